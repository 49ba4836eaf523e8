#include <chrono>
#include <cmath>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/ids.h>

#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/session.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/doctor/store_checks.h"
#include "apps/holdfast/doctor/ttl_advice.h"

namespace holdfast::cli {

namespace {

using base::Result;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using store::Grant;
using Verdict = Check::Verdict;

constexpr std::chrono::seconds kTtl{10};

template <class T>
T required(Result<T> result) {
  return base::value_or_throw(std::move(result));
}

class RoundTrip {
 public:
  explicit RoundTrip(store::LeaseStore& store)
      : store_(store), name_("holdfast/doctor/" + to_string(base::LeaseId::generate())) {}

  Checks run() {
    const Timed first = claim(mine_);
    check_exclusion();
    check_clock();
    const base::Duration renewing = timed([&] { renew(); });
    check_answers();
    const base::Duration releasing = timed([&] { release(mine_); });
    const Timed second = claim(other_);
    release(other_);
    check_tokens(first.grant, second.grant);
    check_offset(second);
    checks_.insert(checks_.begin(),
                   {"round_trip", Verdict::ok,
                    fmt::format("claim {:.3g} ms, renew {:.3g} ms, release {:.3g} ms",
                                to_ms(first.took), to_ms(renewing), to_ms(releasing))});
    return std::move(checks_);
  }

 private:
  struct Timed {
    Grant grant;
    base::Duration took;
    base::TimePoint replied;
  };

  template <class Work>
  static base::Duration timed(Work&& work) {
    const base::TimePoint before = base::boot_clock().now();
    std::forward<Work>(work)();
    return base::boot_clock().now() - before;
  }

  store::ClaimOutcome ask(const base::LeaseId& id) {
    return required(store_.claim(
        name_, {.id = id, .owner = "holdfast doctor", .reason = "a check", .ttl = kTtl},
        answer_deadline()));
  }

  Timed claim(const base::LeaseId& id) {
    Grant grant{base::FencingToken(0), {}};
    const base::Duration took = timed([&] {
      const store::ClaimOutcome outcome = ask(id);
      const Grant* const granted = std::get_if<Grant>(&outcome);
      if (granted == nullptr) {
        base::throw_error({base::ErrorCode::internal, "a name that nobody uses is not free"});
      }
      grant = *granted;
    });
    return {grant, took, base::boot_clock().now()};
  }

  void renew() {
    const store::Renewal renewal{.name = name_, .id = mine_, .ttl = kTtl};
    const auto outcomes = store_.renew({&renewal, 1}, answer_deadline());
    if (!outcomes) {
      base::throw_error(outcomes.error());
    }
    if (outcomes->front() != store::RenewOutcome::renewed) {
      base::throw_error({base::ErrorCode::internal, "a fresh lease could not be renewed"});
    }
  }

  void release(const base::LeaseId& id) {
    if (required(store_.release(name_, id, answer_deadline())) != store::ReleaseOutcome::released) {
      base::throw_error({base::ErrorCode::internal, "a fresh lease could not be released"});
    }
  }

  void check_exclusion() {
    const bool refused = std::holds_alternative<store::Busy>(ask(other_));
    checks_.push_back(refused ? Check{"exclusion", Verdict::ok, "a second claimant is refused"}
                              : Check{"exclusion", Verdict::failed,
                                      "two claimants hold one name: do not use this store"});
  }

  base::Duration held_for() {
    const auto state = required(store_.look(name_, answer_deadline()));
    return state ? state->holders.front().held_for : base::Duration::zero();
  }

  // Between two looks the store's clock goes on by at least the time from the end of the first to
  // the beginning of the second, and by at most the time from the beginning to the end.
  void check_clock() {
    constexpr base::Duration kTolerance = milliseconds(2);
    base::Duration theirs{};
    base::Duration least{};
    const base::Duration most = timed([&] {
      const base::Duration before = held_for();
      least = timed([] { std::this_thread::sleep_for(milliseconds(100)); });
      theirs = held_for() - before;
    });
    const bool agrees = theirs >= least - kTolerance && theirs <= most + kTolerance;
    checks_.push_back(
        agrees ? Check{"clock", Verdict::ok, "the store's clock runs as ours does"}
               : Check{"clock", Verdict::failed,
                       fmt::format("in {} of ours the store's clock went {}: leases "
                                   "end too early or too late",
                                   base::short_duration(least), base::short_duration(theirs))});
  }

  // Renews for a third of a second, and says what the answers took.
  void check_answers() {
    constexpr std::size_t kMost = 100;
    constexpr base::Duration kLongest = milliseconds(300);
    std::vector<base::Duration> samples;
    const base::TimePoint begin = base::boot_clock().now();
    while (samples.size() < kMost && base::boot_clock().now() - begin < kLongest) {
      samples.push_back(timed([&] { renew(); }));
    }
    const Latency latency = latency_of(samples);
    const TtlAdvice advice = advise_ttl(latency, samples.size());
    checks_.push_back(
        {"stalls", Verdict::ok,
         fmt::format("of {} renewals the median took {:.3g} ms, the longest {:.3g} ms",
                     samples.size(), to_ms(latency.median), to_ms(latency.longest))});
    const bool rare = advice.false_losses_a_year < 1e-3;
    checks_.push_back(
        {"ttl", rare ? Verdict::ok : Verdict::warning,
         fmt::format("--ttl {} suits this store: {}; a ttl also has to outlast a fail-over of it",
                     base::short_duration(advice.ttl),
                     rare ? "by these stalls, less than one false loss in 1000 years"
                          : fmt::format("by these stalls, about {:.2g} false losses a year",
                                        advice.false_losses_a_year))});
  }

  // The token of a fresh name is the store's clock in microseconds, read between request and reply.
  void check_offset(const Timed& claimed) {
    const auto wall = std::chrono::duration_cast<microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const auto theirs = microseconds(static_cast<std::int64_t>(claimed.grant.token.value()));
    const auto offset =
        theirs - (wall - std::chrono::duration_cast<microseconds>(
                             (base::boot_clock().now() - claimed.replied) + claimed.took / 2));
    const auto uncertain = std::chrono::duration_cast<microseconds>(claimed.took) / 2;
    const bool close = std::chrono::abs(offset) <= uncertain + std::chrono::seconds(1);
    const std::string detail = fmt::format(
        "the store's clock is {:.3g} ms {} ours (±{:.2g} ms)", to_ms(std::chrono::abs(offset)),
        offset.count() >= 0 ? "ahead of" : "behind", to_ms(uncertain));
    checks_.push_back({"clock_offset", close ? Verdict::ok : Verdict::warning,
                       close ? detail
                             : detail + ": leases do not depend on it, but times in logs do not "
                                        "match, so synchronise the clocks"});
  }

  void check_tokens(const Grant& first, const Grant& second) {
    if (second.token <= first.token) {
      checks_.push_back({"tokens", Verdict::failed,
                         "a later token is not greater: fencing does not work with this store"});
      return;
    }
    const auto wall = std::chrono::duration_cast<microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const microseconds ahead = microseconds(static_cast<std::int64_t>(second.token.value())) - wall;
    const bool close = std::chrono::abs(ahead) < std::chrono::minutes(1);
    checks_.push_back(close ? Check{"tokens", Verdict::ok, "they grow"}
                            : Check{"tokens", Verdict::warning,
                                    fmt::format("they grow, but are {} {} the wall clock: one of "
                                                "the clocks was set",
                                                rough(std::chrono::abs(ahead)),
                                                ahead.count() > 0 ? "ahead of" : "behind")});
  }

  store::LeaseStore& store_;
  const std::string name_;
  const base::LeaseId mine_ = base::LeaseId::generate();
  const base::LeaseId other_ = base::LeaseId::generate();
  Checks checks_;
};

}  // namespace

Checks check_promises(const store::Capabilities& capabilities) {
  const auto say = [](bool promised, std::string_view yes, std::string_view no) {
    return std::string(promised ? yes : no);
  };
  return {
      {"engine", Verdict::ok, capabilities.engine},
      {"cross_process", capabilities.cross_process ? Verdict::ok : Verdict::warning,
       say(capabilities.cross_process, "excludes other processes",
           "each memory: that is opened is a separate store, and memory:NAME is one for each "
           "process: pass another --store")},
      {"cross_machine", Verdict::ok,
       say(capabilities.cross_machine, "excludes other machines",
           capabilities.cross_process ? "excludes processes on this machine only"
                                      : "excludes threads of one process only")},
      {"durable", Verdict::ok,
       say(capabilities.durable, "leases survive a restart of the programs, or of the server",
           "not promised: a restart of the store may lose leases")},
      {"push", Verdict::ok,
       say(capabilities.push, "waiters are notified when a name is free",
           "waiters poll, and acquire a name later")},
  };
}

Checks check_round_trip(store::LeaseStore& store) {
  try {
    return RoundTrip(store).run();
  } catch (const base::Exception& error) {
    const bool broken = error.code() == base::ErrorCode::internal;
    return {{"round_trip", broken ? Verdict::failed : Verdict::unreachable, error.error().message}};
  }
}

}  // namespace holdfast::cli
