#pragma once

#include <memory>
#include <string>
#include <vector>

struct pg_conn;

namespace holdfast::tests {

// A plain client of a PostgreSQL server.
//
// Not thread-safe. What goes wrong is a std::runtime_error.
class PostgresClient {
 public:
  explicit PostgresClient(const std::string& conninfo);

  // Returns how many rows a statement with these parameters changed.
  int change(const std::string& sql, const std::vector<std::string>& parameters = {});
  // The first column of the first row; nothing if there is no row.
  std::string ask(const std::string& sql, const std::vector<std::string>& parameters = {});

  // Runs several statements without parameters.
  void run_all(const std::string& sql);

  // The id of the process that serves this client.
  [[nodiscard]] int backend() const noexcept;

 private:
  struct Free {
    void operator()(pg_conn* connection) const noexcept;
  };
  std::unique_ptr<pg_conn, Free> connection_;
};

}  // namespace holdfast::tests
