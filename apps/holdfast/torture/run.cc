#include <poll.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/base/try.h>
#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/reader_writer_lock.h>
#include <holdfast/recipes/semaphore.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/torture/crew.h"
#include "apps/holdfast/torture/fork.h"
#include "apps/holdfast/torture/nemesis.h"
#include "apps/holdfast/torture/register.h"
#include "apps/holdfast/torture/run.h"

namespace holdfast::cli::torture {

namespace {

using base::Duration;
using base::TimePoint;

constexpr auto kTick = std::chrono::milliseconds(5);
// Beyond what any call may take: the waits of a worker are no longer than a ttl.
constexpr Duration kPatience = std::chrono::minutes(1);
constexpr Duration kAfterAFailure = std::chrono::milliseconds(50);

// Returns the longest time that a caller waits for a name at the end of a run.
Duration longest_wait(const Settings& settings) { return kPatience + 2 * settings.ttl; }

// Returns whether all permits of a name can be acquired.
base::Result<bool> can_acquire(const Settings& settings, const LockName& name) {
  HOLDFAST_TRY_LET(auto store, engines::open_store(settings.url));
  locks::LockProvider provider(std::move(store));
  const locks::AcquireOptions how{.ttl = settings.ttl, .wait = longest_wait(settings)};
  const auto acquired = [&]() -> base::Result<std::optional<locks::Lock>> {
    switch (name.kind) {
      case Kind::mutex: return provider.try_acquire(name.text, how);
      case Kind::semaphore:
        return recipes::Semaphore(provider, name.text, name.permits).try_drain(how);
      case Kind::reader_writer: break;
    }
    return recipes::ReaderWriterLock(provider, name.text).try_acquire_exclusive(how);
  }();
  if (!acquired) {
    return std::unexpected(acquired.error());
  }
  return acquired->has_value();
}

// The same, as an exit status, which is none of an error. Runs in a process of its own. Asks again
// after a failure, for as long as an answer may take: the network or the server may still have to
// recover.
int probe(const Settings& settings, const LockName& name) {
  const base::Clock& clock = base::steady_clock();
  const TimePoint limit = clock.now() + longest_wait(settings);
  auto acquired = can_acquire(settings, name);
  while (!acquired && clock.now() < limit) {
    std::this_thread::sleep_for(kAfterAFailure);
    acquired = can_acquire(settings, name);
  }
  return base::value_or_throw(std::move(acquired)) ? kSuccess : kFailure;
}

class Run {
 public:
  Run(const Settings& settings, const Surroundings& around)
      : settings_(settings),
        around_(around),
        begin_(base::boot_clock().now()),
        recorder_(result_.history, begin_),
        crew_(settings, recorder_),
        nemesis_(settings, {crew_, around.proxy, around.server}, recorder_, result_.history) {
    result_.history.names = settings.names;
    result_.history.fenced = settings.fence;
  }

  RunResult run() {
    const TimePoint until = begin_ + settings_.time;
    const TimePoint quiet = begin_ + settings_.time / 5 * 4;
    crew_.start(until);
    while (goes_on(until)) {
      const TimePoint now = turn();
      if (now < quiet) {
        nemesis_.act(now);
      } else {
        nemesis_.heal(now);
      }
    }
    nemesis_.heal(base::boot_clock().now());
    end_workers();
    find_names_that_are_never_free();
    read_registers();
    result_.counts = recorder_.counts();
    result_.errors = recorder_.errors();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool goes_on(TimePoint until) {
    result_.is_cut_short = result_.history.holds.size() >= Recorder::kMostHolds;
    return !result_.signal && !result_.is_cut_short && base::boot_clock().now() < until;
  }

  // Waits for a tick or for reports, takes these, and notices what has happened.
  TimePoint turn() {
    std::vector<pollfd> ready{{.fd = crew_.reports(), .events = POLLIN, .revents = 0},
                              {.fd = around_.ending.descriptor(), .events = POLLIN, .revents = 0}};
    if (around_.proxy != nullptr) {
      around_.proxy->add_to(ready);
    }
    ::poll(ready.data(), ready.size(), kTick.count());
    if (around_.proxy != nullptr) {
      around_.proxy->serve(base::boot_clock().now());
    }
    result_.signal = around_.ending.look();
    crew_.read_reports();
    crew_.any_runs();
    const TimePoint now = base::boot_clock().now();
    around_.show({.elapsed = recorder_.since_begin(now),
                  .counts = recorder_.counts(),
                  .faults = result_.history.faults.size()});
    return now;
  }

  void end_workers() {
    const TimePoint limit = base::boot_clock().now() + kPatience + 5 * settings_.ttl;
    while (!is_ended_early() && crew_.any_runs() && base::boot_clock().now() < limit) {
      turn();
    }
    const std::size_t stuck = crew_.kill_all();
    if (stuck > 0 && !is_ended_early()) {  // else they would have gone on until the time is over
      result_.defects.push_back(std::to_string(stuck) +
                                " workers did not end: a call does not end");
    }
    result_.defects.insert(result_.defects.end(), crew_.crashes().begin(), crew_.crashes().end());
  }

  [[nodiscard]] bool is_ended_early() const { return result_.signal || result_.is_cut_short; }

  // Asks for each name, until a signal comes or the store is silent.
  void find_names_that_are_never_free() {
    for (std::uint32_t name = 0; name < settings_.names.size(); ++name) {
      if (result_.signal || result_.is_store_silent) {
        result_.history.unknown.push_back(name);
      } else {
        ask_for(name);
      }
    }
  }

  void ask_for(std::uint32_t name) {
    Fork asking([&] { return probe(settings_, settings_.names[name]); }, -1);
    const TimePoint limit = base::boot_clock().now() + 2 * longest_wait(settings_) + kPatience;
    while (!asking.status() && !result_.signal && base::boot_clock().now() < limit) {
      nemesis_.heal(turn());
    }
    const auto status = asking.status();
    const int answer = status && WIFEXITED(*status) ? WEXITSTATUS(*status) : kInternal;
    if (answer == kSuccess) {
      return;
    }
    if (answer == kFailure) {
      result_.history.never_free.push_back(name);
      return;
    }
    result_.history.unknown.push_back(name);
    if (status && WIFEXITED(*status)) {
      result_.is_store_silent = true;
    } else if (!result_.signal) {
      result_.defects.push_back("nobody could find out whether " + settings_.names[name].text +
                                " is free: a call " + (status ? "crashed" : "does not end"));
    }
  }

  void read_registers() {
    for (std::uint32_t name = 0; name < settings_.names.size(); ++name) {
      result_.history.registers.push_back(Register::versions(register_file(settings_, name)));
    }
  }

  const Settings& settings_;
  const Surroundings& around_;
  const TimePoint begin_;
  RunResult result_;
  Recorder recorder_;
  Crew crew_;
  Nemesis nemesis_;
};

}  // namespace

RunResult run(const Settings& settings, const Surroundings& around) {
  return Run(settings, around).run();
}

}  // namespace holdfast::cli::torture
