#include <holdfast/engines/sqlite/internal/failure.h>

#include <string_view>
#include <system_error>

#include <sqlite3.h>

#include <holdfast/base/printable.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::ErrorCode;

struct Meaning {
  ErrorCode code;
  std::string_view what;
};

Meaning meaning_of(int rc) {
  switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return {ErrorCode::unavailable,
              "is locked by another process for too long: try again, or find out with fuser(1)"};
    case SQLITE_INTERRUPT: return {ErrorCode::unavailable, "could not be read by the deadline"};
    case SQLITE_FULL:
      return {ErrorCode::unavailable, "cannot grow, the disk is full: free some space"};
    case SQLITE_READONLY:
      return {ErrorCode::unavailable,
              "is read-only: make it, its folder and the files beside it writable"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::unavailable,
              "cannot be opened: make it, its folder and the files beside it writable"};
    case SQLITE_IOERR: return {ErrorCode::unavailable, "cannot be read or written: check the disk"};
    case SQLITE_NOMEM: return {ErrorCode::unavailable, "cannot be used, memory is exhausted"};
    case SQLITE_NOTADB:
      return {
          ErrorCode::corrupt,
          "is not a SQLite database, or its start is damaged; it is left as it is: name another "
          "file, or move this one away"};
    // The statements are ours and right: where SQLite refuses one, the tables are not ours.
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_CORRUPT:
    case SQLITE_MISMATCH:
      return {ErrorCode::corrupt,
              "is damaged; it is left as it is: when no process uses it, move it away"};
    default: return {ErrorCode::internal, "is used in a way that SQLite refuses"};
  }
}

}  // namespace

base::Error failure_of(int rc, sqlite3* db, const std::string& file) {
  const Meaning meaning = meaning_of(rc);
  std::string message = "the file ";
  message += base::printable(file);
  message += ' ';
  message += meaning.what;
  message += " (";
  message += db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
  if (const int reason = db != nullptr ? sqlite3_system_errno(db) : 0; reason != 0) {
    message += ", ";
    message += std::generic_category().message(reason);
  }
  message += ')';
  return {meaning.code, std::move(message)};
}

}  // namespace holdfast::engines::sqlite::internal
