#pragma once

#include <sys/types.h>

#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli {

// The terminal that a command gets while it runs in a process group of its own, and that is taken
// back when it stops or ends: what an interactive shell does for its jobs. Without a terminal, or
// in its background, nothing is done. Needs SIGTTOU blocked.
class JobTerminal {
 public:
  JobTerminal() noexcept;

  // To be handed to the command from its start; -1: the command does not read from a terminal that
  // is ours to give.
  [[nodiscard]] int for_start() const noexcept { return ours() ? descriptor_ : -1; }

  // Gives it to the group if it is ours to give; whether it was.
  bool give(pid_t group);
  // Takes it back from the group, if the group has it; whether it had.
  bool take_back(pid_t group);

 private:
  [[nodiscard]] bool ours() const noexcept;
  // A command that reads from elsewhere may still ask for the terminal, as for a password.
  void find();

  int descriptor_ = -1;
  Descriptor opened_;
};

}  // namespace holdfast::cli
