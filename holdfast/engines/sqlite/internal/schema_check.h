#pragma once

#include <span>

#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/internal/connection.h>

namespace holdfast::engines::sqlite::internal {

// A column that a file must have.
struct Column {
  const char* table;
  const char* name;
  const char* type;
};

// The columns of schema.sql: of every file of this version; of those, the ones of every file, of
// one with queues, and of one with a row for each lease; and of one with objects.
[[nodiscard]] std::span<const Column> store_columns() noexcept;
[[nodiscard]] std::span<const Column> record_columns() noexcept;
[[nodiscard]] std::span<const Column> queue_columns() noexcept;
[[nodiscard]] std::span<const Column> lease_columns() noexcept;
[[nodiscard]] std::span<const Column> object_columns() noexcept;

// Checks that the file has these columns in tables, not in views, and that it brings no code of its
// own: no triggers, no views, no indexes on our tables that we did not make. Else
// ErrorCode::corrupt. A connection runs no trigger and reads no view in any case.
[[nodiscard]] base::Result<void> check_schema(Connection& connection,
                                              std::span<const Column> columns);

}  // namespace holdfast::engines::sqlite::internal
