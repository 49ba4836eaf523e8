#include <tests/support/postgres_server.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>

namespace holdfast::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;
constexpr auto kLook = 5ms;
constexpr const char* kUser = "postgres";

// Debian keeps them apart by version, and off the PATH.
std::filesystem::path find_programs() {
  std::filesystem::path newest;
  std::error_code error;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    const std::filesystem::path programs = version.path() / "bin";
    if (std::filesystem::exists(programs / "initdb") && programs > newest) {
      newest = programs;
    }
  }
  if (newest.empty()) {
    throw std::runtime_error("no PostgreSQL server was found; is postgresql installed?");
  }
  return newest;
}

// Who runs the server, if not we.
const passwd* other_user() {
  if (::geteuid() != 0) {
    return nullptr;
  }
  const passwd* const user = ::getpwnam(kUser);
  if (user == nullptr) {
    throw std::runtime_error("PostgreSQL does not run as root, and there is no user postgres");
  }
  return user;
}

void give_to_server(const std::filesystem::path& folder) {
  if (const passwd* const user = other_user();
      user != nullptr && ::chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("the temporary folder could not be given to postgres");
  }
}

int wait_for(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

PostgresServer::PostgresServer() : programs_(find_programs()) {
  give_to_server(folder_.path());
  const pid_t made = spawn("initdb", {"-D", (folder_ / "data").string(), "-U", kUser, "-A", "trust",
                                      "-E", "UTF8", "--locale=C", "--no-sync"});
  if (wait_for(made) != 0) {
    throw std::runtime_error("initdb failed; see " + (folder_ / "log").string());
  }
  start();
}

PostgresServer::~PostgresServer() { stop(); }

std::string PostgresServer::conninfo(const std::string& database) const {
  return "host=" + folder_.path().string() + " user=" + kUser + " dbname=" + database +
         " connect_timeout=60 options='-c client_min_messages=warning'";
}

void PostgresServer::restart() {
  stop();
  start();
}

void PostgresServer::start() {
  process_ = spawn("postgres", {"-D", (folder_ / "data").string(), "-k", folder_.path().string(),
                                "-c", "listen_addresses="});
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < give_up) {
    if (::waitpid(process_, nullptr, WNOHANG) == process_) {
      process_ = -1;
      break;
    }
    if (answers()) {
      return;
    }
    std::this_thread::sleep_for(kLook);
  }
  throw std::runtime_error("postgres does not start; see " + (folder_ / "log").string());
}

void PostgresServer::stop() noexcept {
  if (process_ > 0) {
    ::kill(process_, SIGQUIT);  // at once, as after a crash
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
}

bool PostgresServer::answers() const { return ::PQping(conninfo().c_str()) == PQPING_OK; }

pid_t PostgresServer::spawn(const std::string& program, std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), (programs_ / program).string());
  std::vector<char*> words;
  for (std::string& argument : arguments) {
    words.push_back(argument.data());
  }
  words.push_back(nullptr);
  const std::string log = (folder_ / "log").string();
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
  if (::getppid() == parent && ::chdir(folder_.path().c_str()) == 0) {
    ::execv(words.front(), words.data());
  }
  ::_exit(127);
}

}  // namespace holdfast::tests
