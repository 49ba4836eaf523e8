#include <holdfast/store/store_lease_provider.h>

#include <algorithm>
#include <array>

#include <holdfast/base/try.h>

namespace holdfast::store {

using base::ErrorCode;
using base::Result;

namespace {

Result<void> check_owner(std::string_view owner) {
  if (owner.empty()) {
    return base::fail(ErrorCode::invalid_argument,
                      "the owner is empty: name who is to hold the lock");
  }
  return {};
}

}  // namespace

Result<std::vector<Holder>> StoreLeaseProvider::holders(std::string_view key,
                                                        base::Deadline until) {
  HOLDFAST_TRY_LET(std::optional<NameState> state, store_.look(key, until));
  return state ? std::move(state->holders) : std::vector<Holder>();
}

Result<std::optional<base::FencingToken>> StoreLeaseProvider::try_lock(std::string_view key,
                                                                       std::string_view owner,
                                                                       base::Ttl ttl) {
  const Claim claim{.id = base::LeaseId::generate(), .owner = owner, .reason = {}, .ttl = ttl};
  const Result<ClaimOutcome> outcome = store_.claim(key, claim, deadline());
  if (!outcome) {
    if (outcome.error().code == ErrorCode::unknown_outcome) {
      static_cast<void>(store_.release(key, claim.id, deadline()));
    }
    return std::unexpected(outcome.error());
  }
  if (const Grant* const grant = std::get_if<Grant>(&*outcome)) {
    return grant->token;
  }
  return std::nullopt;
}

Result<base::FencingToken> StoreLeaseProvider::renew(std::string_view key, std::string_view owner,
                                                     base::Ttl ttl) {
  HOLDFAST_TRY(check_owner(owner));
  const base::Deadline until = deadline();
  HOLDFAST_TRY_LET(const std::vector<Holder> all, holders(key, until));
  const auto ours = std::ranges::find(all, owner, &Holder::owner);
  if (ours != all.end()) {
    const std::array renewals{Renewal{.name = key, .id = ours->id, .ttl = ttl}};
    HOLDFAST_TRY_LET(const std::vector<RenewOutcome> outcomes, store_.renew(renewals, until));
    if (outcomes.front() == RenewOutcome::renewed) {
      return ours->token;
    }
  }
  return base::fail(ErrorCode::not_held, "the lease to renew has expired or is not this owner's");
}

template <class IsMeant>
Result<void> StoreLeaseProvider::release_if(std::string_view key, const IsMeant& is_meant) {
  const base::Deadline until = deadline();
  HOLDFAST_TRY_LET(const std::vector<Holder> all, holders(key, until));
  const auto meant = std::ranges::find_if(
      all, [&](const Holder& holder) { return !holder.foreign && is_meant(holder); });
  if (meant != all.end()) {
    HOLDFAST_TRY_LET(const ReleaseOutcome outcome, store_.release(key, meant->id, until));
    if (outcome == ReleaseOutcome::released) {
      return {};
    }
  }
  return base::fail(ErrorCode::not_held, "no such lease on this key");
}

Result<void> StoreLeaseProvider::unlock(std::string_view key) {
  return release_if(key, [](const Holder&) { return true; });
}

Result<void> StoreLeaseProvider::unlock(std::string_view key, std::string_view owner) {
  HOLDFAST_TRY(check_owner(owner));
  return release_if(key, [owner](const Holder& holder) { return holder.owner == owner; });
}

Result<void> StoreLeaseProvider::unlock(std::string_view key, base::FencingToken token) {
  return release_if(key, [token](const Holder& holder) { return holder.token == token; });
}

Result<bool> StoreLeaseProvider::is_locked_by(std::string_view key, std::string_view owner) {
  HOLDFAST_TRY(check_owner(owner));
  HOLDFAST_TRY_LET(const std::vector<Holder> all, holders(key, deadline()));
  return std::ranges::find(all, owner, &Holder::owner) != all.end();
}

Result<bool> StoreLeaseProvider::is_lock_expired(std::string_view key) {
  HOLDFAST_TRY_LET(const std::vector<Holder> all, holders(key, deadline()));
  return all.empty();
}

Result<std::optional<base::Duration>> StoreLeaseProvider::time_left(std::string_view key) {
  HOLDFAST_TRY_LET(const std::vector<Holder> all, holders(key, deadline()));
  const auto last = std::ranges::max_element(all, {}, &Holder::time_left);
  return last == all.end() ? std::nullopt : std::optional(last->time_left);
}

}  // namespace holdfast::store
