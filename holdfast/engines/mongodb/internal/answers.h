#pragma once

#include <optional>

#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/engines/mongodb/internal/bson.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/outcome.h>
#include <holdfast/store/record.h>

// What an operation answers, from the document as it is afterwards. What a claim that was refused,
// or a grant that is there, means is said by store::lease_rules; what was granted only by the
// server: an answer that it does not bear out is ErrorCode::internal.
namespace holdfast::engines::mongodb::internal {

// A document, and when it was like that.
struct Sight {
  store::Record record;
  store::Instant now;
};

// From a document with a field `now`.
[[nodiscard]] base::Result<Sight> sight_of(const BsonValue& document);

[[nodiscard]] base::Result<store::ClaimOutcome> claim_outcome(Sight sight,
                                                              const store::Claim& claim);
[[nodiscard]] base::Result<store::TransferOutcome> transfer_outcome(Sight sight,
                                                                    const base::LeaseId& from,
                                                                    const store::Claim& to);
// From the document before the hit, or nothing if there was none.
[[nodiscard]] base::Result<store::HitOutcome> hit_outcome(std::optional<Sight> before,
                                                          const store::Hit& hit);
[[nodiscard]] bool holds(const Sight& sight, const base::LeaseId& id);
[[nodiscard]] std::optional<store::NameState> name_state(const base::Name& name,
                                                         const Sight& sight);

}  // namespace holdfast::engines::mongodb::internal
