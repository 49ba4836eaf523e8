#pragma once

#include <optional>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/engines/postgresql/internal/rows.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/store/outcome.h>

// Readers of the rows of an answer (see sql/*.sql). Rows without a meaning are ErrorCode::corrupt.
namespace holdfast::engines::postgresql::internal {

[[nodiscard]] base::Result<store::ClaimOutcome> claim_outcome(const Rows& rows);
[[nodiscard]] base::Result<store::TransferOutcome> transfer_outcome(const Rows& rows);
[[nodiscard]] base::Result<store::ReleaseOutcome> release_outcome(const Rows& rows);
[[nodiscard]] base::Result<store::HitOutcome> hit_outcome(const Rows& rows);
// Appends one outcome for each of `count` leases.
[[nodiscard]] base::Result<void> renew_outcomes(const Rows& rows, std::size_t count,
                                                std::vector<store::RenewOutcome>& outcomes);
[[nodiscard]] base::Result<std::optional<store::NameState>> look_outcome(const base::Name& name,
                                                                         const Rows& rows);
// The names that were listed, without the first `prefix` bytes of each.
[[nodiscard]] base::Result<std::vector<store::NameState>> listed_names(const Rows& rows,
                                                                       std::size_t prefix);

}  // namespace holdfast::engines::postgresql::internal
