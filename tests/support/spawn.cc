#include <tests/support/spawn.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace holdfast::tests {

pid_t spawn(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) {
      ::execvp(arguments.front(), arguments.data());
    }
    ::_exit(127);
  }
  if (child < 0) {
    throw std::runtime_error("no process can be started");
  }
  return child;
}

bool has_ended(pid_t process) { return ::waitpid(process, nullptr, WNOHANG) == process; }

void send_signal(pid_t process, int signal) {
  if (process <= 0) {
    throw std::logic_error("there is no process to signal");
  }
  ::kill(process, signal);
}

void kill_and_wait(pid_t process) {
  send_signal(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
}

}  // namespace holdfast::tests
