#include <tests/support/spawn.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace holdfast::tests {

namespace {

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe can be made");
  }
  return {.read = ends[0], .write = ends[1]};
}

// The program's standard streams are these descriptors, unless they are negative.
pid_t spawn_with(const std::vector<std::string>& words, int input, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool has_streams = (input < 0 || ::dup2(input, STDIN_FILENO) >= 0) &&
                             (output < 0 || ::dup2(output, STDOUT_FILENO) >= 0);
    if (has_streams && ::getppid() == parent) {
      ::execvp(arguments.front(), arguments.data());
    }
    ::_exit(127);
  }
  if (child < 0) {
    throw std::runtime_error("no process can be started");
  }
  return child;
}

}  // namespace

pid_t spawn(const std::vector<std::string>& words) { return spawn_with(words, -1, -1); }

PipedProcess spawn_piped(const std::vector<std::string>& words) {
  const Pipe input = make_pipe();
  const Pipe output = make_pipe();
  const pid_t child = spawn_with(words, input.read, output.write);
  ::close(input.read);
  ::close(output.write);
  return {.process = child, .input = input.write, .output = output.read};
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
