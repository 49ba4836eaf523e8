#include <holdfast/store/lease_rules.h>

#include <algorithm>
#include <string>

#include <holdfast/base/saturate.h>

namespace holdfast::store::lease_rules {

namespace {

using base::ErrorCode;
using base::fail;

bool is_live(const StoredLease& lease, const Instant& now) noexcept {
  return lease.expires > now.time;
}

bool has_live_lease(const Record& record, const Instant& now) noexcept {
  return std::ranges::any_of(record.leases, [&](const auto& lease) { return is_live(lease, now); });
}

bool has_live_window(const Record& record, const Instant& now) noexcept {
  return record.hits > 0 && record.window_ends > now.time;
}

StoredLease* find_live(Record& record, const base::LeaseId& id, const Instant& now) noexcept {
  const auto found = std::ranges::find(record.leases, id, &StoredLease::id);
  return found != record.leases.end() && is_live(*found, now) ? &*found : nullptr;
}

void drop_expired(Record& record, const Instant& now) {
  std::erase_if(record.leases, [&](const auto& lease) { return !is_live(lease, now); });
}

base::FencingToken mint(Record& record, const Instant& now) noexcept {
  record.last_token = std::max(record.last_token + 1, now.token_floor);
  return base::FencingToken(record.last_token);
}

Grant grant_of(const StoredLease& lease, const Instant& now) noexcept {
  return {.token = lease.token, .time_left = lease.expires - now.time};
}

StoredLease make_lease(Record& record, const Claim& claim, const Instant& now) {
  return {.id = claim.id,
          .owner = std::string(claim.owner),
          .reason = std::string(claim.reason),
          .permits = claim.permits.count,
          .token = mint(record, now),
          .granted = now.time,
          .expires = base::add_saturating(now.time, claim.ttl.unchecked())};
}

Holder holder_of(const StoredLease& lease, const Instant& now) {
  return {.id = lease.id,
          .owner = lease.owner,
          .reason = lease.reason,
          .permits = lease.permits,
          .token = lease.token,
          .held_for = now.time - lease.granted,
          .time_left = lease.expires - now.time};
}

std::vector<Holder> live_holders(const Record& record, const Instant& now) {
  std::vector<Holder> holders;
  for (const StoredLease& lease : record.leases) {
    if (is_live(lease, now)) {
      holders.push_back(holder_of(lease, now));
    }
  }
  return holders;
}

std::uint64_t used_permits(const Record& record) noexcept {
  std::uint64_t used = 0;
  for (const StoredLease& lease : record.leases) {
    used += lease.permits;
  }
  return used;
}

// When so many leases will have expired that `wanted` permits are free.
base::Duration frees_in(const Record& record, std::uint32_t wanted, const Instant& now) {
  std::vector<const StoredLease*> by_expiry;
  for (const StoredLease& lease : record.leases) {
    by_expiry.push_back(&lease);
  }
  std::ranges::sort(by_expiry, {}, &StoredLease::expires);
  std::uint64_t used = used_permits(record);
  for (const StoredLease* lease : by_expiry) {
    used -= lease->permits;
    if (used + wanted <= record.capacity) {
      return lease->expires - now.time;
    }
  }
  return base::Duration::zero();
}

}  // namespace

base::Result<ClaimOutcome> claim(Record& record, const Claim& claim, const Instant& now) {
  if (has_live_window(record, now)) {
    return fail(ErrorCode::conflict, "the name counts hits: it cannot be leased at the same time");
  }
  if (const StoredLease* const mine = find_live(record, claim.id, now)) {
    if (claim.permits != Permits{mine->permits, record.capacity}) {
      return fail(ErrorCode::conflict, "this lease id holds the name with other permits");
    }
    return grant_of(*mine, now);
  }
  if (record.capacity != claim.permits.capacity && has_live_lease(record, now)) {
    return fail(ErrorCode::conflict, "the name is held with a capacity of " +
                                         std::to_string(record.capacity) + ", not " +
                                         std::to_string(claim.permits.capacity));
  }
  drop_expired(record, now);
  record.hits = 0;
  record.capacity = claim.permits.capacity;
  if (used_permits(record) + claim.permits.count > record.capacity) {
    return Busy{.holders = live_holders(record, now),
                .frees_in = frees_in(record, claim.permits.count, now)};
  }
  record.leases.push_back(make_lease(record, claim, now));
  return grant_of(record.leases.back(), now);
}

RenewOutcome renew(Record& record, const base::LeaseId& id, base::Duration ttl,
                   const Instant& now) {
  StoredLease* const lease = find_live(record, id, now);
  if (lease == nullptr) {
    return RenewOutcome::lost;
  }
  lease->expires = std::max(lease->expires, base::add_saturating(now.time, ttl));
  return RenewOutcome::renewed;
}

base::Result<TransferOutcome> transfer(Record& record, const base::LeaseId& from, const Claim& to,
                                       const Instant& now) {
  const StoredLease* const lease = find_live(record, from, now);
  const StoredLease* const successor = find_live(record, to.id, now);
  if (lease == nullptr && successor == nullptr) {
    return Lost{};
  }
  if (lease != nullptr && successor != nullptr) {
    return fail(ErrorCode::conflict, "the lease id to hand over to holds the name already");
  }
  const StoredLease& current = lease != nullptr ? *lease : *successor;
  if (to.permits != Permits{current.permits, record.capacity}) {
    return fail(ErrorCode::conflict, "a lease is handed over with the permits it has");
  }
  if (successor != nullptr) {
    return grant_of(*successor, now);
  }
  std::erase_if(record.leases,
                [&](const StoredLease& other) { return other.id == from || !is_live(other, now); });
  record.leases.push_back(make_lease(record, to, now));
  return grant_of(record.leases.back(), now);
}

ReleaseOutcome release(Record& record, const base::LeaseId& id, const Instant& now) {
  const bool was_live = find_live(record, id, now) != nullptr;
  std::erase_if(record.leases,
                [&](const StoredLease& lease) { return lease.id == id || !is_live(lease, now); });
  return was_live ? ReleaseOutcome::released : ReleaseOutcome::not_held;
}

base::Result<HitOutcome> hit(Record& record, std::uint32_t limit, base::Duration period,
                             const Instant& now) {
  if (has_live_lease(record, now)) {
    return fail(ErrorCode::conflict, "the name is leased: it cannot count hits at the same time");
  }
  if (!has_live_window(record, now)) {
    record.hits = 0;
    record.window_ends = base::add_saturating(now.time, period);
  }
  const base::Duration resets_in = record.window_ends - now.time;
  if (record.hits >= limit) {
    return HitOutcome{.allowed = false, .remaining = 0, .resets_in = resets_in};
  }
  ++record.hits;
  return HitOutcome{.allowed = true, .remaining = limit - record.hits, .resets_in = resets_in};
}

std::optional<NameState> look(const base::Name& name, const Record& record, const Instant& now) {
  std::vector<Holder> holders = live_holders(record, now);
  if (holders.empty()) {
    return std::nullopt;
  }
  return NameState{.name = name, .capacity = record.capacity, .holders = std::move(holders)};
}

bool is_tombstone(const Record& record, const Instant& now) noexcept {
  return !has_live_lease(record, now) && !has_live_window(record, now);
}

}  // namespace holdfast::store::lease_rules
