#include <holdfast/engines/redis/internal/queued_claims.h>

#include <algorithm>
#include <iterator>

namespace holdfast::engines::redis::internal {

// Not each time: there may be many.
void QueuedClaims::forget_the_old(base::TimePoint now) {
  if (now - looked_through_ < kForgotten) {
    return;
  }
  looked_through_ = now;
  for (auto name = by_name_.begin(); name != by_name_.end();) {
    std::erase_if(name->second,
                  [&](const Claim& claim) { return now - claim.refused > kForgotten; });
    name = name->second.empty() ? by_name_.erase(name) : std::next(name);
  }
}

bool QueuedClaims::contains(std::string_view name, const base::LeaseId& id) const {
  if (is_empty()) {
    return false;
  }
  const base::MutexLock lock(mutex_);
  const auto claims = by_name_.find(name);
  return claims != by_name_.end() &&
         std::ranges::any_of(claims->second, [&](const Claim& claim) { return claim.id == id; });
}

bool QueuedClaims::contains(std::string_view name) const {
  if (is_empty()) {
    return false;
  }
  const base::MutexLock lock(mutex_);
  return by_name_.contains(name);
}

void QueuedClaims::add(std::string_view name, const base::LeaseId& id, base::TimePoint now) {
  const base::MutexLock lock(mutex_);
  forget_the_old(now);
  Claims& claims = by_name_.try_emplace(std::string(name)).first->second;
  const auto known = std::ranges::find(claims, id, &Claim::id);
  if (known != claims.end()) {
    known->refused = now;
  } else {
    claims.push_back({.id = id, .refused = now});
  }
  count_.store(by_name_.size(), std::memory_order_relaxed);
}

bool QueuedClaims::remove(std::string_view name, const base::LeaseId& id) {
  if (is_empty()) {
    return false;
  }
  const base::MutexLock lock(mutex_);
  const auto claims = by_name_.find(name);
  if (claims == by_name_.end() ||
      std::erase_if(claims->second, [&](const Claim& claim) { return claim.id == id; }) == 0) {
    return false;
  }
  if (claims->second.empty()) {
    by_name_.erase(claims);
  }
  count_.store(by_name_.size(), std::memory_order_relaxed);
  remember_removed(id);
  return true;
}

void QueuedClaims::remember_removed(const base::LeaseId& id) {
  if (removed_.size() < kRemembered) {
    removed_.push_back(id);
    return;
  }
  removed_[oldest_removed_] = id;
  oldest_removed_ = (oldest_removed_ + 1) % kRemembered;
}

void QueuedClaims::may_join(const base::LeaseId& id) {
  const base::MutexLock lock(mutex_);
  std::ranges::replace(removed_, id, base::LeaseId());
}

bool QueuedClaims::was_removed(std::string_view name, const base::LeaseId& id) const {
  if (contains(name, id)) {
    return false;
  }
  const base::MutexLock lock(mutex_);
  return std::ranges::find(removed_, id) != removed_.end();
}

}  // namespace holdfast::engines::redis::internal
