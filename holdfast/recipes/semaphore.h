#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/options_for.h>
#include <holdfast/recipes/semaphore_rules.h>

namespace holdfast::recipes {

// A name with N permits: up to N holders, or fewer that hold several permits each.
//
// Thread-safe. Its provider must outlive it; its locks may outlive it. Blocking and cancellation
// are those of LockProvider::acquire. All users of the name must use the same N: while a permit is
// held, another N is ErrorCode::conflict.
//
// Several permits are acquired in one step, all or none. A waiter for several is not passed by
// callers that want fewer; if it dies while it waits, they enter again after kHoldsBack. A try (a
// wait of zero) holds nothing back. The store remembers eight (store::Claim::kMaxWaiting) such
// waiters per name; further ones may be passed. The permits of a holder that died are free within
// its ttl.
//
// Not promised: an order among callers that want the same number.
//
//   Semaphore gpus(provider, "gpus", 4);
//   auto one = gpus.acquire({.wait = 5s});
//   auto all = gpus.drain({.wait = 1min});   // all others have finished, and none can start
class Semaphore {
 public:
  // The default of AcquireOptions::holds_back.
  static constexpr base::Duration kHoldsBack = recipes::kHoldsBack;

  // `capacity` must be at least 1; otherwise throws base::Exception with invalid_argument.
  Semaphore(locks::LockProvider& provider, std::string name, std::uint32_t capacity);

  // Acquire as LockProvider::acquire and try_acquire do, but ignore `options.permits`.
  // Without a number, one permit.
  [[nodiscard]] locks::Lock acquire(std::uint32_t permits,
                                    const locks::AcquireOptions& options = {});
  [[nodiscard]] locks::Lock acquire(const locks::AcquireOptions& options = {}) {
    return acquire(1, options);
  }
  [[nodiscard]] base::Result<std::optional<locks::Lock>> try_acquire(
      std::uint32_t permits, const locks::AcquireOptions& options = {});
  [[nodiscard]] base::Result<std::optional<locks::Lock>> try_acquire(
      const locks::AcquireOptions& options = {}) {
    return try_acquire(1, options);
  }
  // Acquires all permits. No other caller has one until the lock is released or reduced.
  [[nodiscard]] locks::Lock drain(const locks::AcquireOptions& options = {});
  [[nodiscard]] base::Result<std::optional<locks::Lock>> try_drain(
      const locks::AcquireOptions& options = {});

  // Returns how many are free at this moment; a waiter for several may still hold others back.
  [[nodiscard]] base::Result<std::uint32_t> available();
  [[nodiscard]] std::uint32_t capacity() const noexcept { return rules_.capacity(); }

 private:
  locks::LockProvider& provider_;
  const std::string name_;
  const SemaphoreRules rules_;
};

}  // namespace holdfast::recipes
