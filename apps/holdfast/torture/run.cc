#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

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

// Returns whether all permits of a name can be acquired. Runs in a process of its own.
base::Result<bool> can_acquire(const Settings& settings, const LockName& name) {
  locks::LockProvider provider(base::value_or_throw(engines::open_store(settings.url)));
  const locks::AcquireOptions how{.ttl = settings.ttl, .wait = kPatience + 2 * settings.ttl};
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
                              {.fd = around_.signals.descriptor(), .events = POLLIN, .revents = 0}};
    if (around_.proxy != nullptr) {
      around_.proxy->add_to(ready);
    }
    ::poll(ready.data(), ready.size(), kTick.count());
    if (around_.proxy != nullptr) {
      around_.proxy->serve(base::boot_clock().now());
    }
    while (const auto signal = around_.signals.next()) {
      if (around_.signals.asks_to_end(*signal)) {
        result_.signal = signal;
      }
    }
    crew_.read_reports();
    crew_.any_runs();
    const TimePoint now = base::boot_clock().now();
    around_.show({.elapsed = recorder_.since_begin(now),
                  .counts = recorder_.counts(),
                  .faults = result_.history.faults.size()});
    return now;
  }

  void end_workers() {
    if (result_.signal || result_.is_cut_short) {
      crew_.kill_all();  // they would go on until the time is over
    }
    const TimePoint limit = base::boot_clock().now() + kPatience + 5 * settings_.ttl;
    while (crew_.any_runs() && base::boot_clock().now() < limit) {
      turn();
    }
    if (const std::size_t stuck = crew_.kill_all(); stuck > 0) {
      result_.defects.push_back(std::to_string(stuck) +
                                " workers did not end: a call does not end");
    }
    result_.defects.insert(result_.defects.end(), crew_.crashes().begin(), crew_.crashes().end());
  }

  void find_names_that_are_never_free() {
    for (std::uint32_t name = 0; name < settings_.names.size(); ++name) {
      Fork probe(
          [&] {
            const auto acquired = can_acquire(settings_, settings_.names[name]);
            return !acquired ? exit_status(acquired.error().code) : *acquired ? kSuccess : kBusy;
          },
          -1);
      const auto status = probe.wait(2 * kPatience + 5 * settings_.ttl);
      if (!status || !WIFEXITED(*status) || WEXITSTATUS(*status) != kSuccess) {
        result_.history.never_free.push_back(name);
      }
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
