#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>

#include <holdfast/base/clock.h>
#include <holdfast/locks/lock.h>

#include "apps/holdfast/child/job_terminal.h"
#include "apps/holdfast/child/loss_plan.h"
#include "apps/holdfast/waiting/descriptor.h"
#include "apps/holdfast/waiting/event.h"
#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli {

enum class OnLost : std::uint8_t { terminate, ignore };

struct SupervisorOptions {
  base::Duration ttl;
  base::Duration kill_after;
  OnLost on_lost = OnLost::terminate;
  // Called once, when the lock is lost or about to be, before the command is told.
  std::function<void()> say_lost;
};

// How a command ended.
struct Ended {
  int status;  // its exit status, or 128 and the signal that ended it
  bool lost;   // it had to end because the lock was lost
  // The first signal that asked this program, too, to end, and not only the command to do
  // something.
  std::optional<int> asked_to_end;
};

// Looks after a running command: passes signals on to its process group, handles its stops as a
// shell does, and ends it if the lock is lost (see LossPlan).
//
// One thread, which is blocked in run() until the command has ended. All that it borrows outlives
// it.
class Supervisor {
 public:
  Supervisor(pid_t command, const locks::Lock& lock, const Signals& signals, JobTerminal& terminal,
             SupervisorOptions options);

  Ended run();

 private:
  void wait_for_something();
  void take_signals();
  void note(int signal);
  void look_at_lock();
  void handle_stop(int signal);
  void end_group(int signal) const;
  // Of a command that has ended; sees to the rest of its group first.
  int reap();

  const pid_t command_;  // also the id of its process group
  const locks::Lock& lock_;
  const Signals& signals_;
  JobTerminal& terminal_;
  const SupervisorOptions options_;
  LossPlan plan_;
  bool said_lost_ = false;
  bool ended_ = false;
  std::optional<int> asked_to_end_;
  Event lost_;
  Descriptor timer_;
};

}  // namespace holdfast::cli
