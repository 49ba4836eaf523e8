#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::cli {

// Removes these leases of a name. Returns those that were still there.
[[nodiscard]] base::Result<std::vector<store::Holder>> remove_leases(
    store::LeaseStore& store, const std::string& name, const std::vector<store::Holder>& holders);

// Returns the holders of a name; fails with `busy` if one of them is another program, whose lock
// nobody else can remove.
[[nodiscard]] base::Result<std::vector<store::Holder>> removable_holders(store::LeaseStore& store,
                                                                         const std::string& name);

// Forgets that `once` has run in this period. Returns whether there was something to forget; fails
// with `busy` while it runs.
[[nodiscard]] base::Result<bool> forget_run(store::LeaseStore& store, const std::string& key);

// Forgets the calls that the throttle of this key has counted. Returns how many.
[[nodiscard]] base::Result<std::uint32_t> forget_hits_of(store::LeaseStore& store,
                                                         const std::string& key);

}  // namespace holdfast::cli
