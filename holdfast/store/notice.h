#pragma once

#include <functional>
#include <optional>

#include <holdfast/base/ids.h>

namespace holdfast::store {

// The message of a store to the watchers of a name: a hint (the name may be free) or a grant (the
// name was given to a waiting claim, see Claim::waits).
//
// A notice is never proof: it may come late, for nothing, or from somebody who only pretends. So it
// carries no token. The waiter whose claim was granted claims again with the same id, and the
// answer brings the lease.
struct Notice {
  std::optional<base::LeaseId> granted{};  // the id of the claim; empty: a hint

  friend bool operator==(const Notice&, const Notice&) = default;
};

using WatchCallback = std::function<void(const Notice& notice)>;

}  // namespace holdfast::store
