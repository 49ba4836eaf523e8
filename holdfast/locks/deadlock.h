#pragma once

#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/waiters.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks {

// Returns the waiters of a deadlock that keeps `name` from becoming free: each waits for a lease
// that the next one holds, the last for one of the first. Empty if there is none. They may be in
// any processes and on any machines.
//
// Blocks while it asks the store, and, if it has a suspicion, for up to two seconds more: it then
// waits until every one of them has shown that it still waits. So there is no false report: at one
// moment during the call all of them waited, and none could have been granted its claim.
//
// Not promised: that every deadlock is found. Only waiters that name what they hold
// (AcquireOptions::holding) are part of one; MultiLock and the command `holdfast` do so by
// themselves.
[[nodiscard]] base::Result<std::vector<Waiter>> find_deadlock(
    store::LeaseStore& store, std::string_view name,
    base::Deadline deadline = base::Deadline::never());

// The names of a store and its waiters, read one after the other.
struct WaitListing {
  std::vector<store::NameState> names{};  // at least those that are waited for
  std::vector<Waiter> waiters{};
};

// Returns all deadlocks that two listings of a store show, each as find_deadlock does. `between` is
// the time from the end of the first listing to the beginning of the second: it takes more than the
// half second in which a waiter shows that it still waits. No I/O.
[[nodiscard]] std::vector<std::vector<Waiter>> deadlocks_in(const WaitListing& before,
                                                            const WaitListing& after,
                                                            base::Duration between);

}  // namespace holdfast::locks
