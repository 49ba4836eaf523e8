#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include <holdfast/base/clock.h>
#include <holdfast/store/lease_store.h>

#include "apps/holdfast/cli/store_location.h"
#include "apps/holdfast/doctor/check.h"

namespace holdfast::cli::serve {

// The checks of `doctor` that write nothing, made about twice a minute for all clients.
//
// Thread-safe. Blocks while it asks the store; others then get the checks before.
class StoreHealth {
 public:
  StoreHealth(std::shared_ptr<store::LeaseStore> store, StoreLocation location);

  [[nodiscard]] Checks checks();

 private:
  const std::shared_ptr<store::LeaseStore> store_;
  const StoreLocation location_;
  std::mutex mutex_;
  Checks checks_;                        // protected by mutex_
  std::optional<base::TimePoint> made_;  // protected by mutex_
};

}  // namespace holdfast::cli::serve
