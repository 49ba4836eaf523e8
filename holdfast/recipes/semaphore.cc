#include <holdfast/recipes/semaphore.h>

#include <utility>

namespace holdfast::recipes {

using base::ErrorCode;
using base::Result;
using locks::AcquireOptions;
using locks::Lock;

Semaphore::Semaphore(locks::LockProvider& provider, std::string name, std::uint32_t capacity)
    : provider_(provider), name_(std::move(name)), capacity_(capacity) {
  if (capacity == 0) {
    base::throw_error({ErrorCode::invalid_argument, "a semaphore has at least one permit"});
  }
}

AcquireOptions Semaphore::taking(std::uint32_t permits, const AcquireOptions& options) const {
  AcquireOptions all = options;
  all.permits = store::Permits::of(permits, capacity_);
  if (all.holds_back == base::Duration::zero()) {
    all.holds_back = kHoldsBack;
  }
  return all;
}

Lock Semaphore::acquire(std::uint32_t permits, const AcquireOptions& options) {
  return provider_.acquire(name_, taking(permits, options));
}

Result<std::optional<Lock>> Semaphore::try_acquire(std::uint32_t permits,
                                                   const AcquireOptions& options) {
  return provider_.try_acquire(name_, taking(permits, options));
}

Lock Semaphore::drain(const AcquireOptions& options) { return acquire(capacity_, options); }

Result<std::optional<Lock>> Semaphore::try_drain(const AcquireOptions& options) {
  return try_acquire(capacity_, options);
}

Result<std::uint32_t> Semaphore::available() {
  const auto state = provider_.look(name_);
  if (!state) {
    return std::unexpected(state.error());
  }
  if (!*state) {
    return capacity_;
  }
  if ((*state)->capacity != capacity_) {
    return base::fail(ErrorCode::conflict, "the name is held with a capacity of " +
                                               std::to_string((*state)->capacity) + ", not " +
                                               std::to_string(capacity_));
  }
  std::uint32_t free = capacity_;
  for (const store::Holder& holder : (*state)->holders) {
    free -= holder.permits;
  }
  return free;
}

}  // namespace holdfast::recipes
