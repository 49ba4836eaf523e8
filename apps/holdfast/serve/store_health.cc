#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "apps/holdfast/doctor/check_store.h"
#include "apps/holdfast/serve/store_health.h"

namespace holdfast::cli::serve {

namespace {

constexpr std::chrono::seconds kGoodFor{30};

}  // namespace

StoreHealth::StoreHealth(std::shared_ptr<store::LeaseStore> store, StoreLocation location)
    : store_(std::move(store)), location_(std::move(location)) {}

Checks StoreHealth::checks() {
  {
    const std::lock_guard guard(mutex_);
    if (made_ && base::boot_clock().now() - *made_ < kGoodFor) {
      return checks_;
    }
    if (made_) {
      made_ = base::boot_clock().now();  // meanwhile others get the old ones
    }
  }
  Checks checks = check_store(*store_, location_, RoundTrips::skipped);
  // Failed checks come first.
  std::ranges::stable_sort(checks, std::greater(), &Check::verdict);
  const std::lock_guard guard(mutex_);
  checks_ = checks;
  made_ = base::boot_clock().now();
  return checks;
}

}  // namespace holdfast::cli::serve
