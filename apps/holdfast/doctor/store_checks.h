#pragma once

#include <holdfast/store/lease_store.h>

#include "apps/holdfast/doctor/check.h"

namespace holdfast::cli {

// Says in words what the engine promises.
[[nodiscard]] Checks check_promises(const store::Capabilities& capabilities);

// Claims, renews and releases a name of its own, twice, and looks whether a second claimant is
// refused, whether tokens grow, and whether the store's clock runs as ours does;
// measures the answers and the offset of the clocks. Takes about half a second, and leaves nothing
// behind for longer than ten.
[[nodiscard]] Checks check_round_trip(store::LeaseStore& store);

}  // namespace holdfast::cli
