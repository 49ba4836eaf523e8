#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/sqlite_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::sqlite {

// Leases in a file, shared by the processes of one machine.
//
// Thread-safe: calls of one store take turns, in the order in which they came. A call waits for
// threads and processes until its deadline, or for the busy timeout if it has none, and reports
// ErrorCode::unavailable then.
//
// The clock is the machine's boot clock, stored with the id of the boot: setting the wall clock
// changes nothing, suspend counts, a time namespace does not shift it, and a reboot ends every
// lease and every window of hits. A token
// is at least the wall clock in microseconds. For one name tokens grow across release, expiry,
// clean-up, restart, reboot, power cut, and a wall clock that is set back (internal/ledger.h).
//
// Waiters for a mutex (Claim::waits) are served in the order in which they came, whatever process
// they are in: a release, or a claim that finds an expired lease, grants the name to the first live
// one, and no claim passes it. That lease lasts for two seconds until the waiter confirms it.
//
// A crash of a process loses nothing that was answered. A waiter in another process learns of its
// grant, or of a release, through shared memory (internal/wake_board.h); without that it has to
// poll, and `capabilities().push` is false.
//
// A process that may only read the file and those beside it gets a store that lists and looks;
// whatever would change something is ErrorCode::unsupported.
//
// A forked child must not use, and need not close, the stores that it inherited: every call is
// ErrorCode::unsupported, and destroying one there does nothing. It cannot open their files again
// either, unless it calls exec first (internal/open_file.h). So fork first, then open.
//
// Not guaranteed: anything on a network file system, between machines, or between containers that
// see different boot ids or boot clocks. Nor after somebody has removed one of the files beside the
// store's while it was in use. The file itself may be moved or removed: the stores that have it
// open then report ErrorCode::unavailable.
//
//   auto store = sqlite::open_store({.file = "/var/lib/jobs/locks.db"});
//   if (!store) { report(store.error()); }
//   LockProvider provider(*store);
class SqliteStore : public store::LeaseStore {
 public:
  // Forgets at once the names that have not been in use for the retention; how many. Not needed:
  // every few changes do a little of it.
  virtual base::Result<std::size_t> sweep_now(
      base::Deadline deadline = base::Deadline::never()) = 0;
  // Returns how often other processes have woken this one, to tell it of a name.
  [[nodiscard]] virtual std::uint64_t times_woken() const noexcept = 0;
};

// Opens the file, or makes it. Errors say what is wrong with the file and what to do; whatever is
// in it is never overwritten:
//
//   invalid_argument   a path that cannot name a file, such as a folder's; options out of range
//   unavailable        the folder does not exist; no permission; disk full; locked
//   corrupt            not a database, or a damaged one
//   conflict           the database of another program
//   unsupported        a store of a later version; a file system without shared memory; inherited
[[nodiscard]] base::Result<std::shared_ptr<SqliteStore>> open_store(SqliteOptions options);

}  // namespace holdfast::engines::sqlite
