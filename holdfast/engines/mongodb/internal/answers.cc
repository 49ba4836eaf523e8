#include <holdfast/engines/mongodb/internal/answers.h>

#include <optional>

#include <holdfast/base/try.h>
#include <holdfast/engines/mongodb/internal/record_codec.h>
#include <holdfast/store/lease_rules.h>

namespace holdfast::engines::mongodb::internal {

namespace {

namespace rules = store::lease_rules;
using base::ErrorCode;
using base::fail;
using base::Result;

// Tokens are the server's clock, in microseconds, or a little more: one that is a year ahead was
// not minted by us, and would lock everybody out of a fence for as long. record.json has it, too.
constexpr std::uint64_t kFurthestAhead = 366ULL * 86'400 * 1'000'000;

// The lease of another program has no id of ours.
void mark_foreign(std::vector<store::Holder>& holders) {
  for (store::Holder& holder : holders) {
    holder.foreign = holder.id.is_nil();
  }
}

// The token of the lease that the server has granted, if it has.
std::optional<base::FencingToken> token_of(const Sight& sight, const base::LeaseId& id) {
  const store::StoredLease* const lease = sight.record.leases.find(id);
  return lease != nullptr ? std::optional(lease->token) : std::nullopt;
}

// A grant that only the rules would give, and that the server has not.
std::unexpected<base::Error> not_borne_out() {
  return fail(ErrorCode::internal, "the server did not do what the rules say");
}

}  // namespace

Result<Sight> sight_of(const BsonValue& document) {
  const auto now = document.find("now");
  if (!now || !now->date()) {
    return fail(ErrorCode::corrupt, "the server's answer does not say what time it is there");
  }
  HOLDFAST_TRY_LET(auto record, record_of(document));
  Sight sight{.record = std::move(record), .now = instant_of(*now->date())};
  if (sight.record.last_token > sight.now.token_floor + kFurthestAhead) {
    return fail(ErrorCode::corrupt,
                "the token of the record is more than 366 days ahead of the server's clock");
  }
  return sight;
}

bool holds(const Sight& sight, const base::LeaseId& id) {
  const store::StoredLease* const lease = sight.record.leases.find(id);
  return lease != nullptr && lease->expires > sight.now.time;
}

Result<store::ClaimOutcome> claim_outcome(Sight sight, const store::Claim& claim) {
  const auto granted = token_of(sight, claim.id);
  auto outcome = rules::claim(sight.record, claim, sight.now);
  if (!outcome) {
    return outcome;
  }
  if (auto* const busy = std::get_if<store::Busy>(&*outcome)) {
    mark_foreign(busy->holders);
  } else if (granted != std::get<store::Grant>(*outcome).token) {
    return not_borne_out();
  }
  return outcome;
}

Result<store::TransferOutcome> transfer_outcome(Sight sight, const base::LeaseId& from,
                                                const store::Claim& to) {
  const auto granted = token_of(sight, to.id);
  auto outcome = rules::transfer(sight.record, from, to, sight.now);
  const auto* const grant = outcome ? std::get_if<store::Grant>(&*outcome) : nullptr;
  if (grant != nullptr && granted != grant->token) {
    return not_borne_out();
  }
  return outcome;
}

Result<store::HitOutcome> hit_outcome(std::optional<Sight> before, const store::Hit& hit) {
  Sight sight = before ? *std::move(before) : Sight{};
  return rules::hit(sight.record, hit, sight.now);
}

std::optional<store::NameState> name_state(const base::Name& name, const Sight& sight) {
  auto state = rules::look(name, sight.record, sight.now);
  if (state) {
    mark_foreign(state->holders);
  }
  return state;
}

}  // namespace holdfast::engines::mongodb::internal
