#include <holdfast/engines/disabled_store.h>

namespace holdfast::engines {

store::Capabilities DisabledStore::capabilities() const {
  // It grants no lease, so two processes never hold one at the same time.
  return {.engine = "disabled", .cross_process = true, .cross_machine = true, .immediate = true};
}

std::unexpected<base::Error> DisabledStore::fail() {
  return base::fail(base::ErrorCode::unavailable,
                    "the lock store is switched off (disabled:): give the URL of a store to switch "
                    "it on");
}

}  // namespace holdfast::engines
