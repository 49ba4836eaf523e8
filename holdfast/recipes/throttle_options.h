#pragma once

#include <cstdint>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/ttl.h>
#include <holdfast/store/hit.h>

namespace holdfast::recipes {

struct ThrottleOptions {
  // So many may pass in one period, of a key and over all who use the store.
  std::uint32_t limit = 1;
  base::Ttl period = std::chrono::minutes(1);  // 100 ms to 365 days
  // fixed: in each window, which begins with its first; twice as many may pass at its edge.
  // sliding: in any interval as long as the period.
  store::Window window = store::Window::fixed;
  // Begins the name of every key in the store, so that throttles and locks do not meet.
  std::string prefix = "throttle/";
  // The most that a call waits for the store.
  base::Duration timeout = std::chrono::seconds(5);
  // By which `pass` sleeps; outlives the throttle and its operations. What passes is judged by the store's clock.
  const base::Clock* clock = &base::steady_clock();
};

// Throws base::Exception, invalid_argument, for options that cannot be.
void check(const ThrottleOptions& options);

}  // namespace holdfast::recipes
