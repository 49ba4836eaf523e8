#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <tests/support/patience.h>

namespace holdfast::tests {

// Runs `work` in a forked child. Returns whether it returned true there, and in time.
template <class Work>
bool is_true_in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work() ? 0 : 1);
  }
  int status = -1;
  const bool ended = eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!ended) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace holdfast::tests
