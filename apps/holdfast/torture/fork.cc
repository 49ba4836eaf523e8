#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/torture/fork.h"

namespace holdfast::cli::torture {

namespace {

// Closes all descriptors but the standard streams and this one.
void close_others(int kept) {
  if (kept > STDERR_FILENO + 1) {
    close_range(STDERR_FILENO + 1, static_cast<unsigned>(kept) - 1, 0);
  }
  close_range(static_cast<unsigned>(std::max(kept, STDERR_FILENO)) + 1, ~0U, 0);
}

}  // namespace

Fork::Fork(const std::function<int()>& work, int kept) {
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (process_ > 0) {
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(kInternal);  // it has ended already
  }
  close_others(kept);
  _exit(status_of_work(work));
}

Fork::~Fork() { kill(); }

void Fork::signal(int number) const {
  if (!status_) {
    ::kill(process_, number);
  }
}

std::optional<int> Fork::status() {
  int status = 0;
  if (!status_ && waitpid(process_, &status, WNOHANG) == process_) {
    status_ = status;
  }
  return status_;
}

std::optional<int> Fork::wait(base::Duration at_most, const std::function<bool()>& gives_up) {
  const auto& clock = base::steady_clock();
  const base::TimePoint end = clock.now() + at_most;
  while (!status()) {
    if (clock.now() >= end || gives_up()) {
      kill();
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status_;
}

void Fork::kill() {
  signal(SIGKILL);
  int status = 0;
  while (!status_) {
    if (waitpid(process_, &status, 0) == process_) {
      status_ = status;
    } else if (errno != EINTR) {
      status_ = 0;  // nobody is left to wait for
    }
  }
}

}  // namespace holdfast::cli::torture
