#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "apps/holdfast/child/job_terminal.h"

namespace holdfast::cli {

JobTerminal::JobTerminal() noexcept : descriptor_(isatty(STDIN_FILENO) != 0 ? STDIN_FILENO : -1) {}

bool JobTerminal::ours() const noexcept {
  return descriptor_ >= 0 && tcgetpgrp(descriptor_) == getpgrp();
}

void JobTerminal::find() {
  if (descriptor_ < 0) {
    opened_ = Descriptor(open("/dev/tty", O_RDWR | O_CLOEXEC));
    descriptor_ = opened_.get();
  }
}

bool JobTerminal::give(pid_t group) {
  find();
  return ours() && tcsetpgrp(descriptor_, group) == 0;
}

bool JobTerminal::take_back(pid_t group) {
  const pid_t foreground = descriptor_ >= 0 ? tcgetpgrp(descriptor_) : -1;
  if (foreground < 0) {
    return false;
  }
  // A group that the command made and that is gone leaves the terminal to nobody.
  const bool theirs = foreground == group || (kill(-foreground, 0) != 0 && errno == ESRCH);
  return theirs && tcsetpgrp(descriptor_, getpgrp()) == 0;
}

}  // namespace holdfast::cli
