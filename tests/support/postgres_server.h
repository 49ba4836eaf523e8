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
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Returns what PQconnectdb takes to connect to this database.
  [[nodiscard]] std::string conninfo(const std::string& database = "postgres") const;

  // Ends it without ceremony, and starts it again with what it had committed.
  void restart();

 private:
  void start();
  void stop() noexcept;
  [[nodiscard]] bool answers() const;
  [[nodiscard]] pid_t spawn(const std::string& program, std::vector<std::string> arguments) const;

  const std::filesystem::path programs_;
  const TemporaryFolder folder_;
  pid_t process_ = -1;
};

}  // namespace holdfast::tests
