#pragma once

#include <span>
#include <string>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/fence/sql_dialect.h>

namespace holdfast::fence {

// A table each row of which is a resource with its own fence.
struct FencedRows {
  std::string schema{};  // empty: where the database looks by itself
  std::string table;
  std::vector<std::string> keys;  // the columns that say which row
  std::string fence = "fence";    // the column with the greatest token seen
};

// Statements that change a row only if its fence has seen no newer token, in one step.
//
// A value; what it makes are texts, to be prepared and run with any client of the database. Names
// are quoted. Parameters are in the order: columns, keys, token (as of to_bigint in
// bigint.h).
//
// A statement that changed one row was accepted, and the row has the token now. One that changed
// none was refused, or, for `update`, there is no such row; `newest` tells which. This holds at
// every isolation level: where PostgreSQL reports a serialisation failure, nothing was changed.
//
// Not guarded: rows that are deleted forget their fence. Where resources come and go, or are more
// than a row, take SqlTableGuard.
//
// Errors: invalid_argument for names that cannot be, none, or twice the same.
//
//   auto guard = SqlRowGuard::make(SqlDialect::sqlite, {.table = "accounts", .keys = {"id"}});
//   auto sql = guard->update(std::vector<std::string>{"balance"});
//   // UPDATE "accounts" AS t SET "balance" = ?1, "fence" = ?3
//   // WHERE t."id" = ?2 AND t."fence" <= ?3;
class SqlRowGuard {
 public:
  [[nodiscard]] static base::Result<SqlRowGuard> make(SqlDialect dialect, const FencedRows& rows);

  // Adds the column for the fence to the table, once.
  [[nodiscard]] const std::string& add_fence() const noexcept { return add_fence_; }

  // Without columns it only raises the fence.
  [[nodiscard]] base::Result<std::string> update(std::span<const std::string> columns) const;
  // Makes the row if it is not there. The keys have to be unique in the table.
  [[nodiscard]] base::Result<std::string> upsert(std::span<const std::string> columns) const;

  // The fence of the row with these keys.
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
  // t."a" = ?2 AND t."b" = ?3, with the numbers from `first` on.
  [[nodiscard]] std::string matches(std::size_t first) const;

  SqlDialect dialect_;
  Names names_;
  std::string add_fence_;
  std::string newest_;
};

}  // namespace holdfast::fence
