#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/ids.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/outcome.h>

// The leases of the commands around this process: each `run` adds its own to HOLDFAST_LEASES for
// its command, so that a command does not wait for a lock that its own parent holds.
namespace holdfast::cli {

// Returns the value of HOLDFAST_LEASES, empty if this process runs under no lease.
[[nodiscard]] std::string outer_leases();
// Returns the leases in such a value: none of them is released before this process has ended. What
// is no lease id is left out.
[[nodiscard]] std::vector<base::LeaseId> ids_of(std::string_view leases);
// Returns the value of HOLDFAST_LEASES for a command that runs under `id`.
[[nodiscard]] std::string with_lease(std::string outer, const base::LeaseId& id);

// Returns whether a claim for so many permits has to wait until one of `leases` is released,
// whatever the other holders do.
[[nodiscard]] bool waits_for_own(std::string_view leases, const store::NameState& state,
                                 const store::Permits& wanted);

}  // namespace holdfast::cli
