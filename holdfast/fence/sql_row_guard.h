#pragma once

#include <span>
#include <string>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/fence/sql_dialect.h>

namespace holdfast::fence {

// A table in which each row is a resource with its own fence.
struct FencedRows {
  std::string schema{};  // empty: the database's search path
  std::string table;
  std::vector<std::string> keys;  // the columns that identify a row
  std::string fence = "fence";    // the column with the greatest token seen
};

// Statements that change a row only if its fence has seen no newer token, in one step.
//
// A value type. It makes statement texts, to be prepared and run with any client of the database.
// Names are quoted. Parameters are in the order: columns, keys, token (converted by to_bigint in
// bigint.h).
//
// A statement that changed one row was accepted, and the row has the token now. One that changed
// none was rejected, or, for `update`, there is no such row; `newest` tells which. This holds at
// every isolation level: if PostgreSQL reports a serialisation failure, nothing was changed.
//
// Not guarded: a deleted row forgets its fence. If resources are created and deleted, or are more
// than one row, use SqlTableGuard.
//
// Errors: invalid_argument for invalid, missing or duplicate names.
//
//   auto guard = SqlRowGuard::make(SqlDialect::sqlite, {.table = "accounts", .keys = {"id"}});
//   auto sql = guard->update(std::vector<std::string>{"balance"});
//   // UPDATE "accounts" AS t SET "balance" = ?1, "fence" = ?3
//   // WHERE t."id" = ?2 AND t."fence" <= ?3;
class SqlRowGuard {
 public:
  [[nodiscard]] static base::Result<SqlRowGuard> make(SqlDialect dialect, const FencedRows& rows);

  // Returns the statement that adds the fence column to the table, to be run once.
  [[nodiscard]] const std::string& add_fence() const noexcept { return add_fence_; }

  // Returns the statement that updates the row; without columns it only raises the fence.
  [[nodiscard]] base::Result<std::string> update(std::span<const std::string> columns) const;
  // Returns the statement that updates or inserts the row. The keys must be unique in the table.
  [[nodiscard]] base::Result<std::string> upsert(std::span<const std::string> columns) const;

  // Returns the query for the fence of the row with these keys.
  [[nodiscard]] const std::string& newest() const noexcept { return newest_; }

 private:
  struct Names {
    QuotedName table;  // with its schema
    std::vector<QuotedName> keys;
    QuotedName fence;
  };

  SqlRowGuard(SqlDialect dialect, Names names);

  [[nodiscard]] base::Result<std::vector<QuotedName>> quote(
      std::span<const std::string> columns) const;
  // Returns t."a" = ?2 AND t."b" = ?3, numbered from `first`.
  [[nodiscard]] std::string matches(std::size_t first) const;

  SqlDialect dialect_;
  Names names_;
  std::string add_fence_;
  std::string newest_;
};

}  // namespace holdfast::fence
