#include <holdfast/engines/redis/internal/queued_claims.h>

namespace holdfast::engines::redis::internal {

std::string QueuedClaims::key(std::string_view name, const base::LeaseId& id) {
  return to_string(id).append(name);
}

// Not each time: there may be many.
void QueuedClaims::forget_the_old(base::TimePoint now) {
  if (now - looked_through_ < kForgotten) {
    return;
  }
  looked_through_ = now;
  std::erase_if(claims_, [&](const auto& claim) { return now - claim.second > kForgotten; });
}

bool QueuedClaims::contains(std::string_view name, const base::LeaseId& id) const {
  if (is_empty()) {
    return false;
  }
  const base::MutexLock lock(mutex_);
  return claims_.contains(key(name, id));
}

bool QueuedClaims::add(std::string_view name, const base::LeaseId& id, base::TimePoint now) {
  const base::MutexLock lock(mutex_);
  forget_the_old(now);
  const bool is_new = claims_.insert_or_assign(key(name, id), now).second;
  count_.store(claims_.size(), std::memory_order_relaxed);
  return is_new;
}

bool QueuedClaims::remove(std::string_view name, const base::LeaseId& id) {
  if (is_empty()) {
    return false;
  }
  const base::MutexLock lock(mutex_);
  const bool was_here = claims_.erase(key(name, id)) > 0;
  count_.store(claims_.size(), std::memory_order_relaxed);
  return was_here;
}

}  // namespace holdfast::engines::redis::internal
