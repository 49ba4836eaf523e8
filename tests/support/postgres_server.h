#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include <tests/support/temporary_folder.h>

namespace holdfast::tests {

// A real PostgreSQL server for a test: a cluster of its own in a temporary folder, on a unix socket
// there and on no port. It ends with this object, and with the test's process. Make it in a thread
// that stays, such as the main one.
//
// The server refuses to run as root: for root it runs as the user `postgres`, whom Debian's package
// makes.
//
// Not thread-safe. What goes wrong is a std::runtime_error.
//
//   PostgresServer server;
//   PostgresClient client(server.conninfo());
class PostgresServer {
 public:
  struct Options {
    // More for its command line, such as {"-c", "fsync=off"}.
    std::vector<std::string> arguments{};
    // More for its environment, such as that of an AlteredMachine.
    std::vector<std::string> environment{};
    // It begins as a copy of this one, and is its standby until it is promoted.
    const PostgresServer* primary = nullptr;
  };
  PostgresServer() : PostgresServer(Options()) {}
  explicit PostgresServer(Options options);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Ends its time as a standby, and returns when it accepts writes.
  void promote() const;

  // Returns the folder of its socket.
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }

  // Returns what PQconnectdb takes to connect to this database.
  [[nodiscard]] std::string conninfo(const std::string& database = "postgres") const;

  // Returns the same as a URL with a question mark, after which more options can follow.
  [[nodiscard]] std::string url(const std::string& database = "postgres") const;

  // Ends it without ceremony, and starts it again with what it had committed.
  void restart();
  // Ends it without ceremony, and starts it.
  void stop() noexcept;
  void start();

  // Stops all its processes, so that nothing is answered, and lets them go on.
  void suspend() const;
  void resume() const;

 private:
  [[nodiscard]] std::string fresh_data() const;
  void make_data() const;
  void signal_all(int signal) const;
  [[nodiscard]] bool answers() const;

  const Options options_;
  const std::filesystem::path programs_;
  const TemporaryFolder folder_;
  pid_t process_ = -1;
};

}  // namespace holdfast::tests
