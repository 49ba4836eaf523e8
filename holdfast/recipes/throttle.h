#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/throttle_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::recipes {

// A rate limit: a limited number of calls, such as requests to a service, may pass in a period,
// among all users of the store.
//
// Thread-safe. Not a lock: nothing is held and nothing is released. Each request to the store waits
// no longer than ThrottleOptions::timeout; `pass` also sleeps between requests.
//
// All users of a key must use the same window (otherwise ErrorCode::conflict) and should use the
// same limit and period. store::Hit describes what is counted, and for how long.
//
// Not promised: an order among waiters. Errors are those of LeaseStore. After unknown_outcome the
// call may have been counted: a caller that tries again may be counted twice, but never passes
// twice.
//
//   Throttle calls(provider, {.limit = 100, .period = 1min, .window = store::Window::sliding});
//   if (auto allowed = calls.try_pass("api/" + customer); allowed && *allowed) call();
class Throttle {
 public:
  // Throws base::Exception with invalid_argument for invalid options.
  explicit Throttle(std::shared_ptr<store::LeaseStore> store, ThrottleOptions options = {});
  // Uses the store of the provider, and keeps it alive.
  explicit Throttle(const locks::LockProvider& provider, ThrottleOptions options = {});

  // Returns whether the call may pass now, and counts it if so. A count above 1 passes all or none.
  [[nodiscard]] base::Result<bool> try_pass(std::string_view key, std::uint32_t count = 1);
  // Waits until the call may pass. Returns false as soon as it is sure that it cannot pass within
  // the wait: other callers only make it later. Duration::max(): no limit. ErrorCode::cancelled
  // after a stop.
  [[nodiscard]] base::Result<bool> pass(std::string_view key, base::Duration wait,
                                        const std::stop_token& stop = {}, std::uint32_t count = 1);

  // Returns how many have passed in this period.
  [[nodiscard]] base::Result<std::uint32_t> hits(std::string_view key);
  // Forgets the calls that have passed in this period, in a window of either kind. Returns how
  // many.
  [[nodiscard]] base::Result<std::uint32_t> reset(std::string_view key);
  // Return whether a call would be refused now, and for how long if no other call passes; zero if
  // it would pass.
  [[nodiscard]] base::Result<bool> is_throttled(std::string_view key);
  [[nodiscard]] base::Result<base::Duration> retry_after(std::string_view key);

 private:
  [[nodiscard]] base::Result<store::HitOutcome> ask(std::string_view key);

  const std::shared_ptr<store::LeaseStore> store_;
  const ThrottleOptions options_;
};

}  // namespace holdfast::recipes
