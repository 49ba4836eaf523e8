#include <tests/support/postgres_server.h>

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include <libpq-fe.h>
#include <tests/support/postgres_client.h>
#include <tests/support/postgres_process.h>

namespace holdfast::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;
constexpr auto kLook = 5ms;

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

// Runs a program as the server's user to its end.
void run(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  int status = 0;
  ::waitpid(spawn_as_postgres(std::move(arguments), folder), &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("the server's data could not be made; see " +
                             (folder / "log").string());
  }
}

}  // namespace

PostgresServer::PostgresServer(Options options)
    : options_(std::move(options)), programs_(find_programs()) {
  give_to_postgres(folder_.path());
  make_data();
  start();
}

PostgresServer::~PostgresServer() { stop(); }

std::string PostgresServer::conninfo(const std::string& database) const {
  return "host=" + folder_.path().string() + " user=" + kPostgresUser + " dbname=" + database +
         " connect_timeout=60 options='-c client_min_messages=warning'";
}

std::string PostgresServer::url(const std::string& database) const {
  return std::string("postgresql://") + kPostgresUser + "@/" + database +
         "?host=" + folder_.path().string();
}

// A server's data as initdb makes them take a second or more: they are made once for a process, and
// copied.
std::string PostgresServer::fresh_data() const {
  static const TemporaryFolder kFolder;
  static const bool kIsMade = [this] {
    give_to_postgres(kFolder.path());
    run(kFolder.path(), {(programs_ / "initdb").string(), "-D", (kFolder / "data").string(), "-U",
                         kPostgresUser, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"});
    return true;
  }();
  static_cast<void>(kIsMade);
  return (kFolder / "data").string();
}

void PostgresServer::make_data() const {
  const std::string data = (folder_ / "data").string();
  if (options_.primary == nullptr) {
    run(folder_.path(), {"/bin/cp", "-a", fresh_data(), data});
  } else {
    run(folder_.path(),
        {(programs_ / "pg_basebackup").string(), "-D", data, "-h", options_.primary->folder(), "-U",
         kPostgresUser, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"});
  }
}

void PostgresServer::promote() const {
  if (PostgresClient(conninfo()).ask("SELECT pg_promote()") != "t") {
    throw std::runtime_error("the standby could not be promoted");
  }
}

void PostgresServer::restart() {
  stop();
  start();
}

void PostgresServer::start() {
  std::vector<std::string> arguments = {
      "-D", (folder_ / "data").string(), "-k", folder_.path().string(), "-c", "listen_addresses="};
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  arguments.insert(arguments.begin(), (programs_ / "postgres").string());
  if (!options_.environment.empty()) {
    arguments.insert(arguments.begin(), options_.environment.begin(), options_.environment.end());
    arguments.insert(arguments.begin(), "/usr/bin/env");
  }
  process_ = spawn_as_postgres(std::move(arguments), folder_.path());
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
    resume();
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
}

void PostgresServer::suspend() const { signal_all(SIGSTOP); }
void PostgresServer::resume() const { signal_all(SIGCONT); }

// First the one that starts the others, so that there are no more of them than are found.
void PostgresServer::signal_all(int signal) const {
  ::kill(process_, signal);
  std::ifstream children("/proc/" + std::to_string(process_) + "/task/" + std::to_string(process_) +
                         "/children");
  for (pid_t child = 0; children >> child;) {
    ::kill(child, signal);
  }
}

bool PostgresServer::answers() const { return ::PQping(conninfo().c_str()) == PQPING_OK; }

}  // namespace holdfast::tests
