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
  const std::lock_guard guard(mutex_);
  const base::TimePoint now = base::boot_clock().now();
  if (!made_ || now - *made_ >= kGoodFor) {
    checks_ = check_store(*store_, location_, RoundTrips::skipped);
    // Failed checks come first.
    std::ranges::stable_sort(checks_, std::greater(), &Check::verdict);
    made_ = base::boot_clock().now();
  }
  return checks_;
}

}  // namespace holdfast::cli::serve
