#include <holdfast/engines/sqlite/internal/transaction.h>

#include <sqlite3.h>

#include <holdfast/engines/sqlite/internal/sql.h>

namespace holdfast::engines::sqlite::internal {

Transactions::Transactions(Connection& connection) noexcept
    : connection_(connection),
      begin_(connection, sql::kBegin),
      commit_(connection, sql::kCommit),
      roll_back_(connection, sql::kRollback) {}

base::Result<void> Transactions::begin() {
  if (auto begun = begin_.run(); !begun) {
    return begun;
  }
  // Only now, with the lock, does the answer stay true until the commit.
  auto in_place = connection_.check_in_place();
  if (!in_place) [[unlikely]] {
    roll_back_if_open();
  }
  return in_place;
}

base::Result<void> Transactions::commit() {
  const Connection::Uninterrupted uninterrupted(connection_);
  auto committed = commit_.run();
  if (!committed) [[unlikely]] {
    const int reason = sqlite3_errcode(connection_.handle()) & 0xff;
    if (reason == SQLITE_IOERR) {
      committed.error().code = base::ErrorCode::unknown_outcome;
    }
    was_full_ = reason == SQLITE_FULL;
  }
  return committed;
}

void Transactions::roll_back_if_open() {
  // Not after a commit, nor after an error at which SQLite has done so itself.
  if (sqlite3_get_autocommit(connection_.handle()) == 0) {
    const Connection::Uninterrupted uninterrupted(connection_);
    (void)roll_back_.run();
  }
}

}  // namespace holdfast::engines::sqlite::internal
