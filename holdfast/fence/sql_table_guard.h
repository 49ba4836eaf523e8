#pragma once

#include <string>

#include <holdfast/base/error.h>
#include <holdfast/fence/sql_dialect.h>

namespace holdfast::fence {

struct FenceTable {
  std::string schema{};  // empty: the database's search path
  std::string table = "holdfast_fences";
};

// Statements for a table of fences by resource: for resources that are more than one row, or none.
//
// A value type. It makes statement texts, to be prepared and run with any client of the database.
//
// Run `check` in the transaction that writes: if it changed one row, the token was accepted and is
// remembered when the transaction commits; if it changed none, roll back. Until the transaction
// ends, other checks of the same resource wait (PostgreSQL) or fail (SQLite: busy, see
// sqlite3_busy_timeout), so no newer token gets in between. On SQLite begin with BEGIN IMMEDIATE.
//
// Errors: invalid_argument for invalid names.
//
//   auto guard = SqlTableGuard::make(SqlDialect::postgresql, {});
//   db.run(guard->create());
//   db.run("BEGIN");
//   if (db.changes(guard->check(), "report", token) == 0) db.run("ROLLBACK");   // rejected
class SqlTableGuard {
 public:
  [[nodiscard]] static base::Result<SqlTableGuard> make(SqlDialect dialect,
                                                        const FenceTable& table);

  // Returns the statement that creates the table if it does not exist.
  [[nodiscard]] const std::string& create() const noexcept { return create_; }
  // Parameters: the resource, a text; the token, converted by to_bigint in bigint.h.
  [[nodiscard]] const std::string& check() const noexcept { return check_; }
  // Returns the query for the newest token of a resource. Parameter: the resource.
  [[nodiscard]] const std::string& newest() const noexcept { return newest_; }

 private:
  SqlTableGuard(SqlDialect dialect, const QuotedName& table);

  std::string create_;
  std::string check_;
  std::string newest_;
};

}  // namespace holdfast::fence
