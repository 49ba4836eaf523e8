#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/engines/redis/internal/connection/reply.h>
#include <holdfast/engines/redis/internal/scripts.h>
#include <holdfast/store/outcome.h>

// The scripts' answers as outcomes. A conflict that a script reports is an error; so is an answer
// that no script of ours sends (ErrorCode::internal). An error in place of an answer is passed on
// unchanged.
namespace holdfast::engines::redis::internal {

// The error for such an answer.
[[nodiscard]] std::unexpected<base::Error> unexpected_answer();

// `ttl` is what was asked for.
[[nodiscard]] base::Result<store::ClaimOutcome> claim_outcome(base::Result<Reply> reply,
                                                              base::Duration ttl);
// Returns `count` outcomes. A part that failed fails its own leases, and no others; if all have
// failed, returns the first error.
[[nodiscard]] base::Result<std::vector<store::RenewOutcome>> renew_outcomes(
    std::span<const Scripts::Part> parts, std::size_t count);
[[nodiscard]] base::Result<store::TransferOutcome> transfer_outcome(base::Result<Reply> reply);
[[nodiscard]] base::Result<store::ReleaseOutcome> release_outcome(base::Result<Reply> reply);
[[nodiscard]] base::Result<store::HitOutcome> hit_outcome(base::Result<Reply> reply);
// One of those that look.lua returns; nothing if the name is not held.
[[nodiscard]] base::Result<std::optional<store::NameState>> name_state(const base::Name& name,
                                                                       Reply reply);
// All that it returns, of one name.
[[nodiscard]] base::Result<std::optional<store::NameState>> only_state(const base::Name& name,
                                                                       base::Result<Reply> reply);

}  // namespace holdfast::engines::redis::internal
