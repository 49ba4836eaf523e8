#include <tests/support/postgres_process.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include <grp.h>
#include <pwd.h>

namespace holdfast::tests {

namespace {

// The user that runs the server, if not ours.
const passwd* other_user() {
  if (::geteuid() != 0) {
    return nullptr;
  }
  const passwd* const user = ::getpwnam(kPostgresUser);
  if (user == nullptr) {
    throw std::runtime_error("PostgreSQL does not run as root, and there is no user postgres");
  }
  return user;
}

}  // namespace

void give_to_postgres(const std::filesystem::path& folder) {
  if (const passwd* const user = other_user();
      user != nullptr && ::chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("the temporary folder could not be given to postgres");
  }
}

pid_t spawn_as_postgres(std::vector<std::string> arguments, const std::filesystem::path& folder) {
  std::vector<char*> words;
  for (std::string& argument : arguments) {
    words.push_back(argument.data());
  }
  words.push_back(nullptr);
  const std::string log = (folder / "log").string();
  const passwd* const user = other_user();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) {
    return child;
  }
  if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
                          ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  // After a change of user, which would undo it.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  // initdb wants a working directory that it may read.
  if (::getppid() == parent && ::chdir(folder.c_str()) == 0) {
    ::execv(words.front(), words.data());
  }
  ::_exit(127);
}

}  // namespace holdfast::tests
