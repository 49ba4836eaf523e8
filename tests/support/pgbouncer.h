#pragma once

#include <sys/types.h>

#include <string>

#include <tests/support/postgres_server.h>
#include <tests/support/temporary_folder.h>

namespace holdfast::tests {

// A real PgBouncer in front of a server, which pools transactions: each may be in another session.
// It has fewer of them than clients. It ends with this object, and with the test's process.
//
// Not thread-safe. What goes wrong is a std::runtime_error.
class PgBouncer {
 public:
  // The server outlives it.
  explicit PgBouncer(const PostgresServer& server);
  ~PgBouncer();
  PgBouncer(const PgBouncer&) = delete;
  PgBouncer& operator=(const PgBouncer&) = delete;

  // Returns a URL like that of PostgresServer::url().
  [[nodiscard]] std::string url(const std::string& database = "postgres") const;

 private:
  const TemporaryFolder folder_;
  pid_t process_ = -1;
};

}  // namespace holdfast::tests
