#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/async_options.h>
#include <holdfast/async/internal/acquire_or_error.h>
#include <holdfast/async/internal/blocking_call.h>
#include <holdfast/async/internal/refuse_unnamed.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/recipes/degradable_provider.h>

namespace holdfast::async {

// recipes::DegradableLock for coroutines.
//
// Move-only; one thread at a time, except `lost` and `check`, which any thread may call.
// Destruction releases in the background; `co_await lock.release()` completes when the lock is
// released. A handle that was released holds nothing.
class [[nodiscard]] AsyncDegradableLock {
 public:
  AsyncDegradableLock() noexcept = default;
  AsyncDegradableLock(std::shared_ptr<internal::EngineRoom> room,
                      recipes::DegradableLock lock) noexcept
      : room_(std::move(room)), lock_(std::move(lock)) {}
  AsyncDegradableLock(AsyncDegradableLock&& other) noexcept = default;
  AsyncDegradableLock& operator=(AsyncDegradableLock&& other) noexcept;
  ~AsyncDegradableLock();

  // These two need a handle that holds.
  [[nodiscard]] recipes::Protection protection() const noexcept { return lock_.protection(); }
  [[nodiscard]] const std::string& name() const noexcept { return lock_.name(); }

  // The functions of recipes::DegradableLock.
  [[nodiscard]] std::stop_token lost() const { return lock_.lost(); }
  [[nodiscard]] base::Result<void> check() const { return lock_.check(); }
  [[nodiscard]] std::optional<base::FencingToken> token() const { return lock_.token(); }
  [[nodiscard]] bool holds() const noexcept { return lock_.holds(); }
  explicit operator bool() const noexcept { return holds(); }

  // Completes with base::Result<store::ReleaseOutcome>. Needs a handle that was acquired.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto release(Token&& token = {}) {
    return internal::initiate_blocking<base::Result<store::ReleaseOutcome>>(
        std::forward<Token>(token), room_,
        [held = std::make_shared<recipes::DegradableLock>(std::move(lock_))] {
          return held->release();
        },
        internal::Purpose::give_back);
  }

 private:
  std::shared_ptr<internal::EngineRoom> room_;
  recipes::DegradableLock lock_;  // destroyed before the room
};

// recipes::DegradableProvider for coroutines: the same policies, the same breaker, the same
// counters. Completion, cancellation and errors are those of AsyncLockProvider.
//
// Thread-safe. It must outlive its calls; locks may outlive it. A waiter costs no thread.
//
//   AsyncDegradableProvider provider(store, {.when_unavailable = policy});
//   auto lock = co_await provider.acquire("report", brief);   // name the options
//   if (lock.protection() != recipes::Protection::full) { … }
class AsyncDegradableProvider {
 public:
  // Throws base::Exception: invalid_argument for invalid options, limit_exceeded if no thread can
  // be started.
  explicit AsyncDegradableProvider(std::shared_ptr<store::LeaseStore> store,
                                   recipes::DegradationOptions options = {},
                                   const AsyncOptions& how = {});
  ~AsyncDegradableProvider();
  AsyncDegradableProvider(const AsyncDegradableProvider&) = delete;
  AsyncDegradableProvider& operator=(const AsyncDegradableProvider&) = delete;

  // Throws base::Exception as AsyncLockProvider::acquire does.
  [[nodiscard]] boost::asio::awaitable<AsyncDegradableLock> acquire(
      std::string name, const locks::AcquireOptions& options) {
    return acquire_with(std::move(name), options);
  }
  // Returns nullopt if the lock was not acquired within `options.wait` (default: zero).
  [[nodiscard]] boost::asio::awaitable<base::Result<std::optional<AsyncDegradableLock>>>
  try_acquire(std::string name, const locks::AcquireOptions& options) {
    return acquire_within(std::move(name), options, options.wait.value_or(base::Duration::zero()),
                          internal::acquire_if_free);
  }
  // Do not compile: the options need a name.
  template <class... Nothing>
  void acquire(std::string /*name*/, locks::AcquireOptions&& /*options*/,
               Nothing&&... /*nothing*/) {
    internal::refuse_unnamed_options<Nothing...>();
  }
  template <class... Nothing>
  void try_acquire(std::string /*name*/, locks::AcquireOptions&& /*options*/,
                   Nothing&&... /*nothing*/) {
    internal::refuse_unnamed_options<Nothing...>();
  }

  [[nodiscard]] recipes::CircuitState state() const { return provider_.state(); }
  // Returns the provider on the store, for everything else.
  [[nodiscard]] AsyncLockProvider& shared() noexcept { return shared_; }

 private:
  using Outcome = base::Result<std::optional<AsyncDegradableLock>>;

  // Keep a copy of the options in the coroutine.
  boost::asio::awaitable<AsyncDegradableLock> acquire_with(std::string name,
                                                           locks::AcquireOptions options);
  using Acquire = decltype(internal::acquire_or_error);
  boost::asio::awaitable<Outcome> acquire_within(std::string name, locks::AcquireOptions options,
                                                 base::Duration wait, Acquire& acquire);

  recipes::DegradableProvider provider_;
  AsyncLockProvider shared_;
  const std::unique_ptr<AsyncLockProvider> local_;  // null unless the policy falls back to it
};

}  // namespace holdfast::async
