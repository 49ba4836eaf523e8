#include "apps/holdfast/child/job_terminal.h"

#include <fcntl.h>
#include <unistd.h>

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
  return descriptor_ >= 0 && tcgetpgrp(descriptor_) == group &&
         tcsetpgrp(descriptor_, getpgrp()) == 0;
}

}  // namespace holdfast::cli
