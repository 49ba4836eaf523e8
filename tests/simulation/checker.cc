#include <tests/simulation/checker.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/saturate.h>

namespace holdfast::simulation {

namespace {

using Kind = Checker::Operation::Kind;
using Lease = Checker::Lease;

const Lease* find(std::span<const Lease> leases, const base::LeaseId& id) noexcept {
  const auto found = std::ranges::find(leases, id, &Lease::id);
  return found == leases.end() ? nullptr : &*found;
}

std::string text(const Lease& lease) {
  return "lease " + to_string(lease.id).substr(0, 16) + " with token " +
         std::to_string(lease.token);
}

}  // namespace

std::string_view to_string(Promise promise) noexcept {
  switch (promise) {
    case Promise::one_holder: return "one holder per name";
    case Promise::tokens_grow: return "tokens strictly increase";
    case Promise::lost_in_time: return "`lost` fires in time";
    case Promise::crash_frees: return "a crashed holder's name is free after its ttl";
    case Promise::calls_end: return "every call ends by its deadline";
    case Promise::release_frees_own: return "a release frees its own lease only";
    case Promise::kept_while_held: return "no lease is lost that the store still has";
    case Promise::nobody_is_stuck: return "every waiter is served once the faults are over";
    case Promise::nothing_is_left: return "nothing is left behind";
  }
  return "";
}

void Checker::fail(Promise promise, std::string what) {
  if (!violation_) {
    violation_ = {promise, std::move(what)};
  }
}

void Checker::done(int name, const Operation& operation, std::uint32_t capacity,
                   std::span<const Lease> live, base::TimePoint now) {
  OfName& known = names_[static_cast<std::size_t>(name)];
  std::uint64_t used = 0;
  for (const Lease& lease : live) {
    used += lease.permits;
    const Lease* const before = find(known.live, lease.id);
    if (before == nullptr || *before != lease) {
      check_new(name, operation, lease, before, now);
    }
  }
  count(Promise::one_holder);
  if (used > capacity) {
    fail(Promise::one_holder, std::to_string(used) + " permits of " + std::to_string(capacity) +
                                  " are in use in the store");
  }
  for (const Lease& before : known.live) {
    if (before.expires <= now || find(live, before.id) != nullptr) {
      continue;
    }
    count(Promise::release_frees_own);
    const bool is_own = (operation.kind == Kind::release || operation.kind == Kind::transfer) &&
                        operation.id == before.id;
    if (!is_own) {
      fail(Promise::release_frees_own,
           text(before) + " was removed by a request of " + to_string(operation.id).substr(0, 16));
    }
  }
  known.live.assign(live.begin(), live.end());
}

void Checker::check_new(int name, const Operation& operation, const Lease& lease,
                        const Lease* before, base::TimePoint now) {
  OfName& known = names_[static_cast<std::size_t>(name)];
  const bool is_asked = operation.id == lease.id || operation.to == lease.id;
  if (before != nullptr && before->token == lease.token) {
    if (before->expires <= now) {
      fail(Promise::one_holder, text(lease) + " had ended, and is back");
    }
    if (lease.expires < before->expires && before->is_confirmed) {
      fail(Promise::kept_while_held, text(lease) + " was shortened");
    }
    if (!is_asked) {
      fail(Promise::one_holder, text(lease) + " was changed by a request of another");
    }
    return;
  }
  count(Promise::tokens_grow);
  if (lease.token <= known.last_token) {
    fail(Promise::tokens_grow,
         text(lease) + " was granted after token " + std::to_string(known.last_token));
  }
  known.last_token = std::max(known.last_token, lease.token);
  const bool is_passed_on = operation.kind == Kind::release && operation.id != lease.id;
  if (operation.kind == Kind::renew || !(is_asked || is_passed_on)) {
    fail(Promise::one_holder, text(lease) + " was granted by a request that grants nothing");
  }
}

void Checker::excuse(int name, std::span<const Lease> live) {
  OfName& known = names_[static_cast<std::size_t>(name)];
  for (const Lease& lease : known.live) {
    excused_.insert(lease.id);
  }
  known.live.assign(live.begin(), live.end());
}

void Checker::acquired(Holding holding) {
  count(Promise::one_holder);
  if (!is_excused(holding.id)) {
    std::uint64_t used = holding.permits;
    for (const Holding& other : holdings_) {
      if (other.name == holding.name && !is_excused(other.id) && other.is_ours()) {
        used += other.permits;
      }
    }
    if (used > holding.capacity) {
      fail(Promise::one_holder, "callers rely on " + std::to_string(used) + " permits of " +
                                    std::to_string(holding.capacity) + " at the same time");
    }
  }
  holdings_.push_back(std::move(holding));
}

void Checker::ended(const base::LeaseId& id) {
  std::erase_if(holdings_, [&](const Holding& holding) { return holding.id == id; });
}

void Checker::relies(const base::LeaseId& id, base::TimePoint until, base::TimePoint limit) {
  count(Promise::lost_in_time);
  if (until > limit) {
    const auto late = std::chrono::duration_cast<std::chrono::microseconds>(
        base::subtract_saturating(until, limit));
    fail(Promise::lost_in_time, "the holder of lease " + to_string(id).substr(0, 16) +
                                    " relies on it for " + std::to_string(late.count()) +
                                    " µs longer than ttl - margin from the last good request");
  }
}

void Checker::lost_early(int name, const base::LeaseId& id, base::TimePoint store_now) {
  count(Promise::kept_while_held);
  const Lease* const lease = find(names_[static_cast<std::size_t>(name)].live, id);
  if (lease != nullptr && lease->expires > store_now && !is_excused(id)) {
    fail(Promise::kept_while_held, text(*lease) + " counts as lost, but the store has it");
  }
}

}  // namespace holdfast::simulation
