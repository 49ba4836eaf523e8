#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks {

// A caller that waits for a name, in any process, as it shows itself to everybody.
//
// A call of `acquire` that has waited for ProviderOptions::announce_after holds a shared lease on a
// reserved name beside the one that it waits for (store/waiting_name.h), and renews it until its
// wait is over.
//
// Not promised: that every waiter is seen. One that has just begun to wait is not, nor one whose
// name has more than 1,000 bytes, nor a client that is not Holdfast. A waiter that was killed is
// seen until its lease has expired: 45 s at most.
struct Waiter {
  std::string name;  // what it waits for
  base::LeaseId id;  // its claim, and the lease that it will hold
  std::string owner;
  std::string reason;
  store::Permits wants;
  std::vector<base::LeaseId> holding;  // AcquireOptions::holding
  base::Duration waited;
  base::Duration seen_before;  // how long ago it has last shown that it waits
};

// Return the waiters for this name, or for all names that begin with `prefix`; the one that waits
// longest first, name by name. Errors are those of LeaseStore::look and LeaseStore::list.
[[nodiscard]] base::Result<std::vector<Waiter>> waiters_for(
    store::LeaseStore& store, std::string_view name,
    base::Deadline deadline = base::Deadline::never());
[[nodiscard]] base::Result<std::vector<Waiter>> list_waiters(
    store::LeaseStore& store, std::string_view prefix = {},
    base::Deadline deadline = base::Deadline::never());

// Shows that the caller waits for `name`, as a waiting `acquire` does by itself, until the lock
// that it returns is released: for waits that are not an `acquire`. Returns nullopt if the name is
// too long, or if the store does not agree within half a second.
[[nodiscard]] std::optional<Lock> show_waiter(LockProvider& provider, std::string_view name,
                                              const AcquireOptions& how, base::Duration waited);

}  // namespace holdfast::locks
