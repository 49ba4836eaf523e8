#pragma once

#include <memory>

#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/sqlite_options.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::sqlite {

// Opens the file, or makes it: a repository of objects, shared by the processes of one machine. It
// may be the file of a SqliteStore: leases and objects then live side by side, whichever was there
// first. Errors as those of open_store().
//
// Thread-safe: calls of one repository take turns, in the order in which they came. A call waits
// for threads and processes until its deadline, or for the busy timeout if it has none, and reports
// ErrorCode::unavailable then.
//
// Each call is one transaction. What was answered as done survives a crash of any process. A power
// cut, or a crash of the system, may undo the last calls, those since SQLite last copied its log
// into the file; what is left is a state that was there before, with nothing torn.
//
// An object that was erased with a token, or loaded with one and not found, leaves its token for
// SqliteOptions::retention by the machine's boot clock, and no longer than to the next boot, which
// no holder lives to see. Every change drops a few that are older.
//
// Forks, network file systems, and a file that is moved or removed: as SqliteStore says.
//
//   auto repository = sqlite::open_repository({.file = "/var/lib/jobs/app.db"});
//   if (!repository) { report(repository.error()); }
[[nodiscard]] base::Result<std::shared_ptr<store::ObjectRepository>> open_repository(
    SqliteOptions options);

}  // namespace holdfast::engines::sqlite
