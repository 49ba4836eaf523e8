#include <holdfast/recipes/once.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/locks/ask_again.h>

namespace holdfast::recipes {

namespace {

using base::Duration;
using base::ErrorCode;
using base::fail;
using base::Result;
using locks::AcquireOptions;
using locks::Lock;

constexpr Duration kTimeout = std::chrono::seconds(5);
constexpr Duration kPause = std::chrono::milliseconds(50);

bool may_answer_later(const base::Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::unknown_outcome;
}

// Runs work at the end of a scope, on every path.
template <class Work>
class AtEnd {
 public:
  explicit AtEnd(Work work) : work_(std::move(work)) {}
  ~AtEnd() { work_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  const Work work_;
};

}  // namespace

Once::Once(locks::LockProvider& provider, OnceOptions options)
    : provider_(provider),
      store_(provider.core(), &provider.store()),
      clock_(provider.clock()),
      options_(std::move(options)) {}

Result<OnceOutcome> Once::run(std::string_view key,
                              const std::function<void(const Lock& lock)>& work) {
  return attempt(key, [&](const Lock& lock) {
    work(lock);
    return true;
  });
}

Result<Once::Run> Once::new_run(std::string_view key) const {
  if (key.empty()) {
    return fail(ErrorCode::invalid_argument, "the key of what is to run once is empty");
  }
  const Duration period = options_.period.unchecked();
  const base::Ttl ttl = options_.retry_after_crash.value_or(options_.period);
  if (ttl.unchecked() > period) {
    return fail(ErrorCode::invalid_argument,
                "retry_after_crash is longer than the period: leave it out, or make it shorter");
  }
  // A lease of a whole period is renewed late: a renewed lease also blocks the next period for
  // longer if this process dies. But early enough that a failed renewal can be repeated.
  AcquireOptions how{
      .ttl = ttl,
      .renew_every = options_.retry_after_crash ? std::nullopt : std::optional(period / 2),
      .owner = options_.owner,
      .reason = "once per period"};
  return Run{options_.prefix + std::string(key), std::move(how), clock_.now()};
}

Result<OnceOutcome> Once::attempt(std::string_view key,
                                  const std::function<bool(const Lock& lock)>& work) {
  HOLDFAST_TRY_LET(const Run run, new_run(key));
  HOLDFAST_TRY_LET(auto acquired, provider_.try_acquire(run.name, run.how));
  if (!acquired) {
    return OnceOutcome::skipped;
  }
  Lock lock = *std::move(acquired);
  bool has_run = true;  // also if it throws
  const AtEnd keep([&] {
    if (has_run) {
      end_run(lock, run.started);
    }  // else released with the handle
  });
  has_run = work(lock);
  return has_run ? OnceOutcome::ran : OnceOutcome::not_done;
}

void Once::end_run(Lock& lock, base::TimePoint started) noexcept {
  try {
    keep_until_the_period_ends(lock, started);
  } catch (const std::exception& error) {
    lock.detach();  // the lease of the run stays, and expires
    options_.logger.warn(error.what());
  }
}

void Once::keep_until_the_period_ends(Lock& lock, base::TimePoint started) {
  const Duration left = base::add_saturating(started, options_.period.unchecked()) - clock_.now();
  if (!lock.check() || left <= Duration::zero()) {
    return;  // released with the handle
  }
  const std::string name = lock.name();  // both must outlive the lock
  const std::string owner(lock.owner());
  // A new lease replaces the old one: a renewal could not make it end earlier.
  const store::Claim rest{.id = base::LeaseId::generate(),
                          .owner = owner,
                          .reason = "has run in this period",
                          .ttl = std::max(left, store::LeaseStore::kMinTtl)};
  const auto kept = hand_over(lock, rest);
  lock.detach();
  if (!kept) {
    options_.logger.warn(
        "the period of " + base::printable(name) +
        " may end at another time, with the lease of its run: " + base::to_string(kept.error()));
  } else if (std::holds_alternative<store::Lost>(*kept)) {
    options_.logger.warn("the lease of " + base::printable(name) +
                         " was lost before its run had ended: another may have run it, too");
    claim_anew(name, rest);
  }
}

// The lease of the run is still renewed meanwhile.
Result<store::TransferOutcome> Once::hand_over(const Lock& lock, const store::Claim& rest) {
  const auto give_up = base::Deadline::after(clock_, std::min(kTimeout, lock.time_left()));
  for (;;) {
    const auto deadline = base::Deadline::after(base::steady_clock(),
                                                std::max(give_up.remaining(clock_.now()), kPause));
    auto outcome = locks::ask_again(
        deadline, [&] { return store_->transfer(lock.name(), lock.id(), rest, deadline); });
    if (outcome || !may_answer_later(outcome.error()) || give_up.expired(clock_.now())) {
      return outcome;
    }
    static_cast<void>(clock_.sleep_until(
        std::min(base::add_saturating(clock_.now(), kPause), give_up.when()), std::stop_token()));
  }
}

void Once::claim_anew(const std::string& name, const store::Claim& rest) {
  const auto deadline = base::Deadline::after(base::steady_clock(), kTimeout);
  const auto claimed =
      locks::ask_again(deadline, [&] { return store_->claim(name, rest, deadline); });
  if (!claimed) {
    options_.logger.warn("the period of " + base::printable(name) +
                         " may be over at once: " + base::to_string(claimed.error()));
  }
}

}  // namespace holdfast::recipes
