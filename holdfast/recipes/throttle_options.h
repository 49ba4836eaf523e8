#pragma once

#include <cstdint>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/ttl.h>
#include <holdfast/store/hit.h>

namespace holdfast::recipes {

struct ThrottleOptions {
  // The number of calls that may pass in one period, per key, among all users of the store.
  std::uint32_t limit = 1;
  base::Ttl period = std::chrono::minutes(1);  // 100 ms to 365 days
  // fixed: counted in each window, which starts with its first call; twice as many may pass at its
  // edge. sliding: counted in any interval as long as the period.
  store::Window window = store::Window::fixed;
  // Begins the name of every key in the store, so that throttles and locks have different names.
  std::string prefix = "throttle/";
  // The longest wait of a call for the store.
  base::Duration timeout = std::chrono::seconds(5);
  // The clock by which `pass` sleeps; must outlive the throttle and its operations. The store's
  // clock decides what passes.
  const base::Clock* clock = &base::steady_clock();
};

// Throws base::Exception with invalid_argument for invalid options.
void check(const ThrottleOptions& options);

}  // namespace holdfast::recipes
