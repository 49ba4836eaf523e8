#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/recipes/throttle_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::recipes {

// Lets a limited number pass in a period, such as calls to a service, for all who use the store.
//
// Thread-safe. Not a lock: nothing is held, and nothing is given back. Each call is one request to
// the store, and waits for it no longer than ThrottleOptions::timeout; `pass` also sleeps.
//
// All who use a key say the same window (else ErrorCode::conflict) and should say the same limit
// and period. What is counted, and for how long, stands at store::Hit.
//
// Not promised: an order among those who wait. Errors are those of LeaseStore. After
// unknown_outcome it may have been counted: whoever tries again may be counted twice, and is never
// let through twice.
//
//   Throttle calls(store, {.limit = 100, .period = 1min, .window = store::Window::sliding});
//   if (auto allowed = calls.try_pass("api/" + customer); allowed && *allowed) call();
class Throttle {
 public:
  // Throws base::Exception, invalid_argument, for options that cannot be.
  explicit Throttle(std::shared_ptr<store::LeaseStore> store, ThrottleOptions options = {});

  // Whether it may pass now; then it is counted. Several at once: all or none.
  [[nodiscard]] base::Result<bool> try_pass(std::string_view key, std::uint32_t count = 1);
  // The same, and waits until it may. False as soon as it is sure that it will not within the wait:
  // others only make it later. Duration::max(): without bound. ErrorCode::cancelled after a stop.
  [[nodiscard]] base::Result<bool> pass(std::string_view key, base::Duration wait,
                                        std::stop_token stop = {}, std::uint32_t count = 1);

  // How many have passed in this period.
  [[nodiscard]] base::Result<std::uint32_t> hits(std::string_view key);
  // Whether one would be refused now, and for how long if nobody else passes; zero if it would not.
  [[nodiscard]] base::Result<bool> is_throttled(std::string_view key);
  [[nodiscard]] base::Result<base::Duration> retry_after(std::string_view key);

 private:
  [[nodiscard]] base::Result<store::HitOutcome> ask(std::string_view key);

  const std::shared_ptr<store::LeaseStore> store_;
  const ThrottleOptions options_;
};

}  // namespace holdfast::recipes
