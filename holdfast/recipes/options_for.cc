#include <holdfast/recipes/options_for.h>

#include <holdfast/store/claim.h>

namespace holdfast::recipes {

using locks::AcquireOptions;
using store::Permits;

AcquireOptions as_reader(AcquireOptions options) {
  options.permits = Permits::reader();
  options.holds_back = {};
  return options;
}

AcquireOptions as_writer(AcquireOptions options) {
  options.permits = Permits::writer();
  if (options.holds_back == base::Duration::zero()) {
    options.holds_back = kHoldsBack;
  }
  return options;
}

AcquireOptions as_candidate(AcquireOptions options) {
  options.permits = Permits::mutex();
  options.wait = options.wait.value_or(base::Duration::max());
  if (options.reason.empty()) {
    options.reason = kLeads;
  }
  return options;
}

}  // namespace holdfast::recipes
