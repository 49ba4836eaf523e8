#pragma once

#include <optional>

#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/engines/mongodb/internal/bson.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/outcome.h>
#include <holdfast/store/record.h>

// The answers of operations, read from the document as it is afterwards. store::lease_rules says
// how a refusal or a repeated grant is answered; only the server grants. An answer that does not
// agree with its document is ErrorCode::internal.
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
