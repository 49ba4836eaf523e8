#include <holdfast/store/lease_rules.h>

#include <algorithm>
#include <limits>
#include <string>

#include <holdfast/base/saturate.h>
#include <holdfast/store/internal/live.h>

namespace holdfast::store::lease_rules {

namespace {

using base::ErrorCode;
using base::fail;

using internal::has_live_lease;
using internal::has_live_window;
using internal::is_live;

const StoredLease* find_live(const Record& record, const base::LeaseId& id, const Instant& now) {
  const StoredLease* const found = record.leases.find(id);
  return found != nullptr && is_live(*found, now) ? found : nullptr;
}

void drop_expired(Record& record, const Instant& now) {
  record.leases.drop_ended(now.time);
  std::erase_if(record.waits, [&](const auto& wait) { return !is_live(wait, now); });
}

base::FencingToken mint(Record& record, const Instant& now) noexcept {
  // The greatest token stays: it must not become the least.
  const bool has_next = record.last_token < std::numeric_limits<std::uint64_t>::max();
  record.last_token = std::max(record.last_token + (has_next ? 1 : 0), now.token_floor);
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

// Lets the lease last for `ttl` from now. Never shortens it.
void extend(Record& record, const StoredLease& lease, base::Duration ttl, const Instant& now) {
  if (const auto expires = base::add_saturating(now.time, ttl); expires > lease.expires) {
    record.leases.extend(lease.id, expires);
  }
}

Holder holder_of(const StoredLease& lease, const Instant& now) {
  return {.id = lease.id,
          .owner = lease.owner,
          .reason = lease.reason,
          .permits = lease.permits,
          .token = lease.token,
          .held_for = base::subtract_saturating(now.time, lease.granted),
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

// The leases that a refusal names: those that end first, in the order in which they were granted.
std::vector<Holder> some_holders(const Record& record, const Instant& now) {
  std::vector<const StoredLease*> leases = record.leases.first_to_end(Busy::kMaxHolders);
  std::ranges::sort(leases, {}, &StoredLease::token);
  std::vector<Holder> holders;
  holders.reserve(leases.size());
  for (const StoredLease* lease : leases) {
    holders.push_back(holder_of(*lease, now));
  }
  return holders;
}

// The leases that decide when `wanted` permits are free: of those that end first, enough must have
// ended, and of those that end last, as many as leave room may stay. These are the fewer of the
// two, and at most kMostRead.
struct Telling {
  bool are_first = false;
  std::uint64_t enough = 0;  // permits of these leases
  std::size_t count = 0;     // leases that may have so many
};

Telling leases_that_tell(std::uint64_t used, const Permits& wanted) noexcept {
  constexpr std::uint64_t kMostRead = 128;
  const std::uint64_t to_end = used + wanted.count - wanted.capacity;
  const std::uint64_t may_stay = wanted.capacity - wanted.count;
  if (to_end <= may_stay + 1 || may_stay >= kMostRead) {
    return {.are_first = true, .enough = to_end, .count = std::min(to_end, kMostRead)};
  }
  return {.are_first = false, .enough = may_stay + 1, .count = may_stay + 1};
}

// Returns the time at which so many leases will have ended that `wanted` permits are free. If the
// leases that it reads are not enough to decide, the name is not free before the returned time.
base::Duration frees_in(const Record& record, const Permits& wanted, const Instant& now) {
  const Telling telling = leases_that_tell(record.leases.used(), wanted);
  std::uint64_t sum = 0;
  base::TimePoint ends = now.time;
  for (const StoredLease* lease : telling.are_first ? record.leases.first_to_end(telling.count)
                                                    : record.leases.last_to_end(telling.count)) {
    sum += lease->permits;
    ends = lease->expires;
    if (sum >= telling.enough) {
      break;
    }
  }
  return ends - now.time;
}

// Returns the time for which waiters that want more hold this claim back; zero if none does.
base::Duration held_back_for(const Record& record, const Claim& claim, const Instant& now) {
  base::Duration longest{};
  for (const StoredWait& wait : record.waits) {
    if (wait.id != claim.id && wait.permits > claim.permits.count) {
      longest = std::max(longest, wait.until - now.time);
    }
  }
  return longest;
}

void stop_waiting(Record& record, const base::LeaseId& id) {
  std::erase_if(record.waits, [&](const StoredWait& wait) { return wait.id == id; });
}

void wait_on(Record& record, const Claim& claim, const Instant& now) {
  stop_waiting(record, claim.id);
  if (claim.holds_back == base::Duration::zero() || claim.permits.capacity == 1) {
    return;
  }
  record.waits.push_back({.id = claim.id,
                          .permits = claim.permits.count,
                          .until = base::add_saturating(now.time, claim.holds_back)});
  if (record.waits.size() > Claim::kMaxWaiting) {
    record.waits.erase(std::ranges::min_element(record.waits, {}, &StoredWait::until));
  }
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
    extend(record, *mine, claim.ttl.unchecked(), now);
    return grant_of(*mine, now);
  }
  if (record.capacity != claim.permits.capacity && has_live_lease(record, now)) {
    return fail(ErrorCode::conflict, "the name is held with a capacity of " +
                                         std::to_string(record.capacity) + ", not " +
                                         std::to_string(claim.permits.capacity));
  }
  drop_expired(record, now);
  if (record.capacity != claim.permits.capacity) {
    record.waits.clear();
  }
  record.hits = 0;
  record.log.clear();
  record.capacity = claim.permits.capacity;
  const bool is_full = record.leases.used() + claim.permits.count > record.capacity;
  const base::Duration held_back = held_back_for(record, claim, now);
  if (is_full || held_back > base::Duration::zero()) {
    wait_on(record, claim, now);
    const base::Duration free =
        is_full ? frees_in(record, claim.permits, now) : base::Duration::zero();
    return Busy{.holders = some_holders(record, now), .frees_in = std::max(free, held_back)};
  }
  stop_waiting(record, claim.id);
  return grant_of(record.leases.insert(make_lease(record, claim, now)), now);
}

RenewOutcome renew(Record& record, const base::LeaseId& id, base::Duration ttl,
                   const Instant& now) {
  const StoredLease* const lease = find_live(record, id, now);
  if (lease == nullptr) {
    return RenewOutcome::lost;
  }
  extend(record, *lease, ttl, now);
  return RenewOutcome::renewed;
}

base::Result<TransferOutcome> transfer(Record& record, const base::LeaseId& from, const Claim& to,
                                       const Instant& now) {
  const StoredLease* const lease = find_live(record, from, now);
  const StoredLease* const successor = find_live(record, to.id, now);
  if (lease == nullptr && successor == nullptr) {
    return Lost{};
  }
  if (lease != nullptr && successor != nullptr && lease != successor) {
    return fail(ErrorCode::conflict, "the lease id to hand over to holds the name already");
  }
  const StoredLease& current = lease != nullptr ? *lease : *successor;
  const bool is_less = lease != nullptr && to.permits.count < current.permits;
  if (to.permits.capacity != record.capacity || (to.permits.count != current.permits && !is_less)) {
    return fail(ErrorCode::conflict,
                "a lease is handed over with the permits it has, or fewer of the same capacity");
  }
  if (successor != nullptr && !is_less) {
    return grant_of(*successor, now);
  }
  drop_expired(record, now);
  if (!is_less && held_back_for(record, to, now) > base::Duration::zero()) {
    return HeldBack{};
  }
  stop_waiting(record, to.id);
  record.leases.erase(from);
  return grant_of(record.leases.insert(make_lease(record, to, now)), now);
}

ReleaseOutcome release(Record& record, const base::LeaseId& id, const Instant& now) {
  const bool was_live = find_live(record, id, now) != nullptr;
  drop_expired(record, now);
  stop_waiting(record, id);
  record.leases.erase(id);
  return was_live ? ReleaseOutcome::released : ReleaseOutcome::not_held;
}

Looked looked_at_to_refuse(std::uint64_t used, const Permits& wanted) noexcept {
  Looked looked{.first = Busy::kMaxHolders};
  if (used + wanted.count > wanted.capacity) {
    const Telling telling = leases_that_tell(used, wanted);
    std::size_t& count = telling.are_first ? looked.first : looked.last;
    count = std::max(count, telling.count);
  }
  return looked;
}

std::optional<NameState> look(const base::Name& name, const Record& record, const Instant& now) {
  std::vector<Holder> holders = live_holders(record, now);
  if (holders.empty()) {
    return std::nullopt;
  }
  return NameState{.name = name, .capacity = record.capacity, .holders = std::move(holders)};
}

bool is_tombstone(const Record& record, const Instant& now) noexcept {
  return !has_live_lease(record, now) && !has_live_window(record, now) &&
         std::ranges::none_of(record.waits, [&](const auto& wait) { return is_live(wait, now); });
}

Load load_of(const Record& record) noexcept {
  return {.permits = record.leases.used(), .waits = record.waits.size()};
}

}  // namespace holdfast::store::lease_rules
