#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

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

// The policy of an acquire when the store is unavailable.
enum class WhenUnavailable : std::uint8_t {
  fail,                  // ErrorCode::unavailable
  proceed_without_lock,  // a handle with Protection::none
  fall_back_to_local,    // a lock among the callers of this provider: Protection::local_only
};

struct DegradationOptions {
  WhenUnavailable when_unavailable = WhenUnavailable::fail;
  // After this many failed requests in a row, the store is not asked for `retry_after`. At least 1.
  std::uint32_t failures = 3;
  // The time for which the store is not asked, plus up to a quarter of it at random; then one
  // caller tries.
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

  // For authors of another face (see async::AsyncDegradableProvider).
  using Outcome = base::Result<std::optional<DegradableLock>>;
  class Attempt;
  // Returns the error that a store would return for these arguments.
  [[nodiscard]] static base::Result<void> check(std::string_view name,
                                                const locks::AcquireOptions& options);
  // Returns the provider of locks in this process; null unless the policy falls back to them.
  [[nodiscard]] locks::LockProvider* local() noexcept { return local_.get(); }

 private:
  using Acquire = base::Result<std::optional<locks::Lock>>(locks::LockProvider& provider,
                                                           std::string_view name,
                                                           const locks::AcquireOptions& how);
  Outcome acquire_within(std::string_view name, const locks::AcquireOptions& options,
                         base::Duration wait, Acquire& acquire);
  Outcome degrade(std::string_view name, const base::Error& why, locks::Lock local);

  const DegradationOptions options_;
  const std::shared_ptr<internal::Circuit> circuit_;
  const std::unique_ptr<locks::LockProvider> shared_;
  const std::unique_ptr<locks::LockProvider> local_;  // null unless the policy falls back to it
};

// One acquire on the store, without the acquiring itself:
//
//   Attempt attempt(provider, name, options, std::move(local));
//   return attempt.begin() ? attempt.end(provider.shared().try_acquire(name, attempt.how()))
//                          : attempt.outcome();
//
// `how` stops the wait when an outage begins. One thread at a time; its provider must outlive it.
class DegradableProvider::Attempt {
 public:
  // `local` is the lock in this process, empty without one.
  Attempt(DegradableProvider& provider, std::string_view name, locks::AcquireOptions options,
          locks::Lock local);

  // Returns whether to ask the store. If not, `outcome` has the result.
  [[nodiscard]] bool begin();
  [[nodiscard]] const locks::AcquireOptions& how() const noexcept { return how_; }
  // Returns the result of the whole acquire for that of the store.
  [[nodiscard]] Outcome end(base::Result<std::optional<locks::Lock>> held);
  [[nodiscard]] Outcome outcome() { return std::move(outcome_); }

 private:
  struct Stop {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  DegradableProvider& provider_;
  const std::string name_;
  locks::AcquireOptions how_;
  const std::stop_token stop_;  // the caller's
  locks::Lock local_;
  // Fires when an outage begins. Taken before the store is asked: an outage that begins in between
  // then ends the wait.
  const std::stop_token opening_;
  std::stop_source either_;
  const std::stop_callback<Stop> on_cancel_;
  const std::stop_callback<Stop> on_opening_;
  Outcome outcome_{};
};

}  // namespace holdfast::recipes
