#include <holdfast/recipes/semaphore_rules.h>

#include <string>

#include <holdfast/base/try.h>
#include <holdfast/recipes/options_for.h>

namespace holdfast::recipes {

using base::ErrorCode;

SemaphoreRules::SemaphoreRules(std::uint32_t capacity) : capacity_(capacity) {
  if (capacity == 0) {
    base::throw_error({ErrorCode::invalid_argument, "a semaphore has at least one permit"});
  }
}

locks::AcquireOptions SemaphoreRules::options_for(std::uint32_t permits,
                                                  locks::AcquireOptions options) const {
  options.permits = {permits, capacity_};
  if (options.holds_back == base::Duration::zero()) {
    options.holds_back = kHoldsBack;
  }
  return options;
}

base::Result<std::uint32_t> SemaphoreRules::free_in(
    const base::Result<std::optional<store::NameState>>& state) const {
  HOLDFAST_TRY(state);
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
