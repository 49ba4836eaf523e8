#pragma once

#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace holdfast::tests {

// A plain client of a SQLite file. Not thread-safe. What goes wrong is a std::runtime_error.
class SqliteClient {
 public:
  explicit SqliteClient(const std::string& file);

  // Returns how many rows a statement with these parameters changed.
  int change(const std::string& sql, const std::vector<std::string>& parameters = {});
  // The first column of the first row; nothing if there is no row.
  std::string ask(const std::string& sql, const std::vector<std::string>& parameters = {});

 private:
  struct Free {
    void operator()(sqlite3* db) const noexcept;
  };
  std::unique_ptr<sqlite3, Free> db_;
};

}  // namespace holdfast::tests
