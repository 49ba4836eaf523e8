#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/lock.h>

#include "apps/holdfast/child/boot_timer.h"
#include "apps/holdfast/child/guardian.h"
#include "apps/holdfast/child/job_terminal.h"
#include "apps/holdfast/child/loss_plan.h"
#include "apps/holdfast/waiting/event.h"
#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli {

enum class OnLost : std::uint8_t { terminate, ignore };

struct SupervisorOptions {
  base::Duration ttl;
  base::Duration kill_after;
  OnLost on_lost = OnLost::terminate;
  // Called once, when the lock is lost or about to be, before the command gets a signal.
  std::function<void()> say_lost;
  // Called at least so often.
  base::Duration every = base::Duration::max();
  std::function<void()> tick{};
  // Called once the command has run for a moment: a shorter one needs nobody who renews its lock.
  // Where there are no threads for it, it is called again.
  std::function<base::Result<void>()> start_keeping{};
};

// The end of a command.
struct Ended {
  int status;  // its exit status, or 128 and the signal that ended it
  bool lost;   // it had to end because the lock was lost
  // The first signal that asked this program, too, to end, and not only the command to do
  // something.
  std::optional<int> asked_to_end;
};

// Looks after a running command: passes signals on to its process group, handles its stops as a
// shell does, ends it if the lock is lost (see LossPlan), and tells the guardian how long the lock
// lasts.
//
// One thread, which is blocked in run() until the command has ended. All that it borrows outlives
// it.
class Supervisor {
 public:
  Supervisor(Guardian& guardian, const locks::Lock& lock, const Signals& signals,
             JobTerminal& terminal, SupervisorOptions options);

  Ended run();

 private:
  void wait_for_something();
  enum class Stops : std::uint8_t { handled, outdated };

  void take_signals();
  void take_reports(Stops stops);
  void suspend_until_continued(Stop whom);
  // True as far as is known; otherwise its group must not be signalled.
  [[nodiscard]] bool command_runs() const noexcept { return !status_ && !left_behind_; }
  void note(int signal);
  void keep_if_due();
  void look_at_lock();
  void handle_stop(int signal);
  void end_group(int signal);

  Guardian& guardian_;
  const pid_t command_;  // also the id of its process group
  const locks::Lock& lock_;
  const Signals& signals_;
  JobTerminal& terminal_;
  const SupervisorOptions options_;
  LossPlan plan_;
  bool said_lost_ = false;
  bool left_behind_ = false;  // the command has ended, not all that it started has
  std::optional<int> status_;
  std::optional<int> asked_to_end_;
  Event lost_;
  base::TimePoint keep_at_ = base::TimePoint::max();
  const BootTimer timer_;
};

}  // namespace holdfast::cli
