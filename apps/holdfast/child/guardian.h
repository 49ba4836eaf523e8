#pragma once

#include <sys/types.h>

#include <expected>
#include <optional>

#include <holdfast/base/clock.h>

#include "apps/holdfast/child/guardian_process.h"
#include "apps/holdfast/child/spawn.h"
#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli {

// The times at which a command gets TERM and KILL, of base::boot_clock().
struct Deadlines {
  base::TimePoint term = base::TimePoint::max();
  base::TimePoint kill = base::TimePoint::max();
};

struct GuardianOptions {
  Deadlines deadlines{};
  Background background = Background::keep;
  base::Duration kill_after{};
};

// A small process between this one, the supervisor, and the command: it starts the command, and
// ends it with all its descendants when the deadline passes that the supervisor has to move again
// and again, or when the supervisor dies. So a command ends with its lease while the supervisor is
// stopped, and when it is killed.
//
//   supervisor ── shared memory: the deadlines ──▶ guardian ── parent of ──▶ command ──▶ …
//              ◀── a pipe: how the command fares ──
//
// The guardian adopts processes whose parents have ended (PR_SET_CHILD_SUBREAPER), so daemons in
// sessions of their own are found, too. It cannot end a process that runs as another user.
//
// One thread. The object is destroyed when the command has ended, or ends it.
class Guardian {
 public:
  // Starts the command, or returns why it does not run. Throws std::system_error where there are no
  // more descriptors.
  [[nodiscard]] static std::expected<Guardian, StartFailure> start(SpawnOptions command,
                                                                   const GuardianOptions& options);
  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  // Does what leave() does, and blocks until the guardian has ended.
  ~Guardian();

  // Lets the guardian go, which ends what is not to live on, while this process does other things.
  void leave() noexcept { orders_ = Descriptor(); }

  [[nodiscard]] pid_t command() const noexcept { return command_; }

  void set(const Deadlines& deadlines) noexcept;
  // From now on, nothing that the command leaves behind lives on.
  void set_ending() noexcept { board_->ending = true; }
  // Says that a report that the command has ended was read: its group is not used from now on.
  void acknowledge_end() noexcept;
  // The same, and ends what the command has left behind.
  void end_rest() noexcept;

  // Readable when there is a report, and when the guardian is dead.
  [[nodiscard]] int descriptor() const noexcept { return reports_.get(); }
  // Returns the next report, nothing if there is none. Does not block. When a guardian is killed,
  // the kernel kills the command, but not what it has started.
  [[nodiscard]] std::optional<GuardianReport> next() const;

 private:
  Guardian(GuardianBoard* board, Descriptor orders, Descriptor reports, pid_t id) noexcept;
  [[nodiscard]] std::expected<pid_t, StartFailure> wait_for_start() const;

  GuardianBoard* board_;
  Descriptor orders_;
  Descriptor reports_;
  pid_t id_;
  pid_t command_ = -1;
};

}  // namespace holdfast::cli
