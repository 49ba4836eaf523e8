#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/circuit_state.h>
#include <holdfast/recipes/degradable_lock.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::recipes {

namespace internal {
class Circuit;
}  // namespace internal

// What an acquire does when the store is unavailable.
enum class WhenUnavailable : std::uint8_t {
  fail,                  // ErrorCode::unavailable
  proceed_without_lock,  // a handle with Protection::none
  fall_back_to_local,    // a lock among the callers of this provider: Protection::local_only
};

struct DegradationOptions {
  WhenUnavailable when_unavailable = WhenUnavailable::fail;
  // After this many failed requests in a row, the store is not asked for `retry_after`. At least 1.
  std::uint32_t failures = 3;
  // How long the store is not asked, plus up to a quarter of that at random; then one caller tries.
  base::Duration retry_after = std::chrono::seconds(5);
  // A request other than a renewal that takes longer counts as failed.
  base::Duration answer_within = std::chrono::seconds(3);
  // Its clock also measures the pause; its logger and metrics get the messages and counters below.
  locks::ProviderOptions provider{};
};

// A LockProvider that has a policy for an unavailable store.
//
// Thread-safe. It must outlive its calls; locks may outlive it, like those of a LockProvider.
//
// A store is unavailable when its requests end in unavailable or unknown_outcome. Contention and
// every other error are passed on unchanged and never degraded. A caller pays for an outage with at
// most `failures` requests; after that only one caller in every `retry_after` does. While the store
// is not asked, acquire applies `when_unavailable` at once, also for callers that were already
// waiting (with `fail` they keep waiting until their wait is over). The first request that is
// answered restores normal operation; renewals are sent all the time. A claim whose reply was lost
// is repeated, released, or left to expire: it leaves nothing behind past its ttl.
//
// With fall_back_to_local every acquire first takes a lock in this process and then the store's, so
// that callers of this provider exclude each other before, during and after an outage.
// Protection::local_only does not exclude other processes, and Protection::none excludes no other
// caller: the caller must decide whether the work tolerates that.
//
// Each change of state and each degraded acquire is logged as a warning. Counters, in addition to
// those of locks::Metrics (which the local locks have with the prefix `local_`):
//   breaker_opened, breaker_probed, breaker_closed, degraded_to_none, degraded_to_local
//
//   DegradableProvider provider(store, {.when_unavailable = WhenUnavailable::fall_back_to_local});
//   auto lock = provider.acquire("report", {.wait = 5s});
//   if (lock.protection() != Protection::full) { … }
class DegradableProvider {
 public:
  // Throws base::Exception with invalid_argument for invalid options.
  explicit DegradableProvider(std::shared_ptr<store::LeaseStore> store,
                              DegradationOptions options = {});
  ~DegradableProvider();
  DegradableProvider(const DegradableProvider&) = delete;
  DegradableProvider& operator=(const DegradableProvider&) = delete;

  // Throws base::Exception as LockProvider::acquire does.
  [[nodiscard]] DegradableLock acquire(std::string_view name,
                                       const locks::AcquireOptions& options = {});
  // Returns nullopt if the lock was not acquired within `options.wait` (default: zero).
  [[nodiscard]] base::Result<std::optional<DegradableLock>> try_acquire(
      std::string_view name, const locks::AcquireOptions& options = {});

  [[nodiscard]] CircuitState state() const;
  // Returns the provider on the store, for everything else.
  [[nodiscard]] locks::LockProvider& shared() noexcept { return *shared_; }

 private:
  using Outcome = base::Result<std::optional<DegradableLock>>;

  Outcome acquire_within(std::string_view name, const locks::AcquireOptions& options,
                         base::Duration wait);
  Outcome acquire_shared(std::string_view name, const locks::AcquireOptions& options,
                         locks::Lock local);
  Outcome degrade(std::string_view name, const base::Error& why, locks::Lock local);

  const DegradationOptions options_;
  const std::shared_ptr<internal::Circuit> circuit_;
  const std::unique_ptr<locks::LockProvider> shared_;
  const std::unique_ptr<locks::LockProvider> local_;  // null unless the policy falls back to it
};

}  // namespace holdfast::recipes
