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
  // So many failed requests in a row, and the store is not asked for a while. At least 1.
  std::uint32_t failures = 3;
  // How long it is not asked, plus up to a quarter of that at random; then one caller tries.
  base::Duration retry_after = std::chrono::seconds(5);
  // A request other than a renewal that takes longer has failed.
  base::Duration answer_within = std::chrono::seconds(3);
  // Its clock is that of the pause, too; its logger and metrics get what is said below.
  locks::ProviderOptions provider{};
};

// Acquires names as a LockProvider does, and knows what to do when the store is unavailable.
//
// Thread-safe. Outlives its calls; locks may outlive it, as those of a LockProvider may.
//
// A store is unavailable when its requests end in unavailable or unknown_outcome; contention, and
// every other error, is passed on as it is and never degraded. A caller pays for an outage with
// `failures` requests at the most, and then nobody does but one caller in every `retry_after`:
// while the store is not asked, acquire does at once what `when_unavailable` says, those included
// who were waiting (with `fail` they wait on, until their wait is over). The first request that is
// answered brings everything back to normal; renewals go on all the time. A claim whose reply was
// lost is repeated, released, or left to run out: nothing of it outlives its ttl.
//
// With fall_back_to_local every acquire takes a lock in this process first and the store's then, so
// that callers of this provider exclude each other whatever the store does: before an outage, in
// it, and after. Other processes are not excluded by Protection::local_only, nor is anybody by
// Protection::none: whether the work bears that is the caller's to judge.
//
// Each change is logged, and each degraded acquire, as a warning. Counters, beside those of
// locks::Metrics (which the local locks have with the prefix `local_`):
//   breaker_opened, breaker_probed, breaker_closed, degraded_to_none, degraded_to_local
//
//   DegradableProvider provider(store, {.when_unavailable = WhenUnavailable::fall_back_to_local});
//   auto lock = provider.acquire("report", {.wait = 5s});
//   if (lock.protection() != Protection::full) { … }
class DegradableProvider {
 public:
  // Throws base::Exception, invalid_argument, for options that cannot be.
  explicit DegradableProvider(std::shared_ptr<store::LeaseStore> store,
                              DegradationOptions options = {});
  ~DegradableProvider();
  DegradableProvider(const DegradableProvider&) = delete;
  DegradableProvider& operator=(const DegradableProvider&) = delete;

  // Throws base::Exception as LockProvider::acquire does.
  [[nodiscard]] DegradableLock acquire(std::string_view name,
                                       const locks::AcquireOptions& options = {});
  // Nothing if the name was not to be had within `options.wait` (default: at once).
  [[nodiscard]] base::Result<std::optional<DegradableLock>> try_acquire(
      std::string_view name, const locks::AcquireOptions& options = {});

  [[nodiscard]] CircuitState state() const;
  // On the store, for everything else.
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
  const std::unique_ptr<locks::LockProvider> local_;  // null unless it may be fallen back to
};

}  // namespace holdfast::recipes
