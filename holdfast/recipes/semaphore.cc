#include <holdfast/recipes/semaphore.h>

#include <utility>

namespace holdfast::recipes {

using base::ErrorCode;
using base::Result;
using locks::AcquireOptions;
using locks::Lock;

std::uint32_t Semaphore::checked(std::uint32_t capacity) {
  if (capacity == 0) {
    base::throw_error({ErrorCode::invalid_argument, "a semaphore has at least one permit"});
  }
  return capacity;
}

Semaphore::Semaphore(locks::LockProvider& provider, std::string name, std::uint32_t capacity)
    : provider_(provider), name_(std::move(name)), capacity_(checked(capacity)) {}

AcquireOptions Semaphore::taking(store::Permits permits, AcquireOptions options) {
  options.permits = permits;
  if (options.holds_back == base::Duration::zero()) {
    options.holds_back = kHoldsBack;
  }
  return options;
}

Lock Semaphore::acquire(std::uint32_t permits, const AcquireOptions& options) {
  return provider_.acquire(name_, taking({permits, capacity_}, options));
}

Result<std::optional<Lock>> Semaphore::try_acquire(std::uint32_t permits,
                                                   const AcquireOptions& options) {
  return provider_.try_acquire(name_, taking({permits, capacity_}, options));
}

Lock Semaphore::drain(const AcquireOptions& options) { return acquire(capacity_, options); }

Result<std::optional<Lock>> Semaphore::try_drain(const AcquireOptions& options) {
  return try_acquire(capacity_, options);
}

Result<std::uint32_t> Semaphore::available() {
  return free_permits(capacity_, provider_.look(name_));
}

Result<std::uint32_t> Semaphore::free_permits(
    std::uint32_t capacity, const Result<std::optional<store::NameState>>& state) {
  if (!state) {
    return std::unexpected(state.error());
  }
  if (!*state) {
    return capacity;
  }
  if ((*state)->capacity != capacity) {
    return base::fail(ErrorCode::conflict, "the name is held with a capacity of " +
                                               std::to_string((*state)->capacity) + ", not " +
                                               std::to_string(capacity));
  }
  std::uint32_t free = capacity;
  for (const store::Holder& holder : (*state)->holders) {
    free -= holder.permits;
  }
  return free;
}

}  // namespace holdfast::recipes
