#pragma once

#include <string>

#include <holdfast/base/error.h>

struct sqlite3;

namespace holdfast::engines::sqlite::internal {

// Returns the meaning of SQLite's result code for a caller of the store: a code, and a message that
// names the file and says what to do. `db` (may be null) adds SQLite's own words.
[[nodiscard, gnu::cold]] base::Error failure_of(int rc, sqlite3* db, const std::string& file);

}  // namespace holdfast::engines::sqlite::internal
