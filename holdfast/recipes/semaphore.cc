#include <holdfast/recipes/semaphore.h>

#include <utility>

namespace holdfast::recipes {

using base::Result;
using locks::AcquireOptions;
using locks::Lock;

Semaphore::Semaphore(locks::LockProvider& provider, std::string name, std::uint32_t capacity)
    : provider_(provider), name_(std::move(name)), rules_(capacity) {}

Lock Semaphore::acquire(std::uint32_t permits, const AcquireOptions& options) {
  return provider_.acquire(name_, rules_.options_for(permits, options));
}

Result<std::optional<Lock>> Semaphore::try_acquire(std::uint32_t permits,
                                                   const AcquireOptions& options) {
  return provider_.try_acquire(name_, rules_.options_for(permits, options));
}

Lock Semaphore::drain(const AcquireOptions& options) { return acquire(capacity(), options); }

Result<std::optional<Lock>> Semaphore::try_drain(const AcquireOptions& options) {
  return try_acquire(capacity(), options);
}

Result<std::uint32_t> Semaphore::available() { return rules_.free_in(provider_.look(name_)); }

}  // namespace holdfast::recipes
