#include <holdfast/engines/sqlite/internal/schema_check.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/sql.h>
#include <holdfast/engines/sqlite/internal/statement.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::size_t kOfRecords = 13;
constexpr std::size_t kOfQueue = 8;
constexpr std::array kStoreColumns = {
    Column{"meta", "boot_id", "TEXT"},
    Column{"meta", "epoch", "INTEGER"},
    Column{"meta", "high_water", "INTEGER"},
    Column{"meta", "ceiling", "INTEGER"},
    Column{"meta", "swept_until", "BLOB"},
    Column{"records", "name", "BLOB"},
    Column{"records", "epoch", "INTEGER"},
    Column{"records", "last_token", "INTEGER"},
    Column{"records", "capacity", "INTEGER"},
    Column{"records", "hits", "INTEGER"},
    Column{"records", "window_ends", "INTEGER"},
    Column{"records", "idle_from", "INTEGER"},
    Column{"records", "leases", "BLOB"},

    Column{"queue", "name", "BLOB"},
    Column{"queue", "place", "INTEGER"},
    Column{"queue", "id_high", "INTEGER"},
    Column{"queue", "id_low", "INTEGER"},
    Column{"queue", "owner", "BLOB"},
    Column{"queue", "reason", "BLOB"},
    Column{"queue", "address", "INTEGER"},
    Column{"queue", "until", "INTEGER"},

    Column{"leases", "name", "BLOB"},
    Column{"leases", "id", "TEXT"},
    Column{"leases", "token", "INTEGER"},
    Column{"leases", "granted", "INTEGER"},
    Column{"leases", "expires", "INTEGER"},
    Column{"leases", "permits", "INTEGER"},
    Column{"leases", "owner", "BLOB"},
    Column{"leases", "reason", "BLOB"},
};

constexpr std::array kObjectColumns = {
    Column{"objects", "number", "INTEGER"}, Column{"objects", "type", "BLOB"},
    Column{"objects", "id", "BLOB"},        Column{"objects", "token", "INTEGER"},
    Column{"objects", "stored", "INTEGER"}, Column{"objects", "epoch", "INTEGER"},
    Column{"objects", "used", "INTEGER"},   Column{"object_data", "number", "INTEGER"},
    Column{"object_data", "data", "BLOB"},
};

// `what` names something that the file brought, so it is made printable.
Result<void> tampered(const Connection& connection, std::string_view what) {
  return fail(ErrorCode::corrupt, "the file " + base::printable(connection.file()) +
                                      " is not as Holdfast made it (" + base::printable(what) +
                                      "); it is left as it is: when no process uses it, move it "
                                      "away");
}

Result<void> check_foreign_code(Connection& connection) {
  Statement statement(connection, sql::kForeignCode);
  Statement::Use use(statement);
  HOLDFAST_TRY_LET(const bool row, use.step());
  return row ? tampered(connection, use.bytes(0)) : Result<void>();
}

}  // namespace

std::span<const Column> store_columns() noexcept { return kStoreColumns; }
std::span<const Column> record_columns() noexcept { return store_columns().first(kOfRecords); }
std::span<const Column> queue_columns() noexcept {
  return store_columns().subspan(kOfRecords, kOfQueue);
}
std::span<const Column> lease_columns() noexcept {
  return store_columns().subspan(kOfRecords + kOfQueue);
}
std::span<const Column> object_columns() noexcept { return kObjectColumns; }

Result<void> check_schema(Connection& connection, std::span<const Column> columns) {
  if (auto checked = check_foreign_code(connection); !checked) {
    return checked;
  }
  for (const Column& column : columns) {
    const char* type = nullptr;
    // Fails for a view, too.
    const int rc =
        sqlite3_table_column_metadata(connection.handle(), "main", column.table, column.name, &type,
                                      nullptr, nullptr, nullptr, nullptr);
    const bool is_missing = (rc & 0xff) == SQLITE_ERROR;
    if (rc != SQLITE_OK && !is_missing) {
      return std::unexpected(connection.failure(rc));
    }
    if (is_missing || type == nullptr || std::string_view(type) != column.type) {
      return tampered(connection, std::string("the table ") + column.table + " has no column " +
                                      column.name + " of type " + column.type);
    }
  }
  return {};
}

}  // namespace holdfast::engines::sqlite::internal
