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
  return child;
}

bool has_ended(pid_t process) { return ::waitpid(process, nullptr, WNOHANG) == process; }

void kill_and_wait(pid_t process) {
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
}

std::filesystem::path make_folder(const std::string& what) {
  std::string pattern =
      (std::filesystem::temp_directory_path() / ("holdfast-" + what + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary folder could be made");
  }
  return pattern;
}

}  // namespace holdfast::tests
