#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_options.h>
#include <holdfast/async/internal/calls.h>
#include <holdfast/async/internal/procedure_operation.h>
#include <holdfast/async/internal/refuse_unnamed.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::async {

namespace internal {

struct TryAcquire : AcquireCall {
  using AcquireCall::AcquireCall;
  [[nodiscard]] std::tuple<base::Result<std::optional<AsyncLock>>> take(const Room& room);
};

struct Acquire : AcquireCall {
  using AcquireCall::AcquireCall;
  [[nodiscard]] std::tuple<std::exception_ptr, AsyncLock> take(const Room& room);
};

}  // namespace internal

// A provider of locks over a store for coroutines. It acquires and renews as locks::LockProvider
// does for threads: the same queue for each name, the same hand-over, the same renewal.
//
// Thread-safe. No operation blocks: a waiter is an entry in a queue, and costs no thread. One
// thread serves all timers, one renews all locks; requests to a blocking engine run in a small pool
// (AsyncOptions), which also releases in the background. Requests to Redis go through its pipelined
// connection.
//
// Operations take any completion token (default: `use_awaitable`), and complete on the handler's
// associated executor (asio::system_executor if it has none). They are cancelled by the handler's
// cancellation slot, of any type, and by AcquireOptions::stop: both end the wait with
// ErrorCode::cancelled, after a lock that may have been granted was released. Waits are measured by
// ProviderOptions::clock.
//
// When the execution context ends while operations wait, their handlers are destroyed without being
// called; the operations leave the queue and release what they hold, in the background. When a
// provider that was made from a store is destroyed, waiting `acquire`s complete with
// ErrorCode::cancelled, and `lost` fires on locks that are still held. One that shares a
// LockProvider ends without them: they continue until that one ends. The destructor waits for
// releases in the background, each at most to the deadline of its request.
//
// Errors are those of locks::LockProvider, and limit_exceeded if too many requests wait for the
// pool.
//
//   AsyncLockProvider provider(store);
//   const AcquireOptions brief{.wait = 5s};   // named, see below
//   AsyncLock lock = co_await provider.acquire("report", brief);
class AsyncLockProvider {
 public:
  // Both throw base::Exception: invalid_argument for invalid options, limit_exceeded if no thread
  // can be started.
  explicit AsyncLockProvider(std::shared_ptr<store::LeaseStore> store,
                             locks::ProviderOptions options = {}, const AsyncOptions& how = {});
  // Shares the queues and the renewal of `provider`, which must outlive it: a release on one side
  // passes the name to a waiter on the other.
  explicit AsyncLockProvider(locks::LockProvider& provider, const AsyncOptions& how = {});
  ~AsyncLockProvider();
  AsyncLockProvider(const AsyncLockProvider&) = delete;
  AsyncLockProvider& operator=(const AsyncLockProvider&) = delete;

  // Completes with the AsyncLock; throws base::Exception as locks::LockProvider::acquire does.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto acquire(std::string name, const locks::AcquireOptions& options,
                             Token&& token = {}) {
    return internal::initiate<internal::Acquire, void(std::exception_ptr, AsyncLock)>(
        std::forward<Token>(token), room_, core(), std::move(name), options, base::Duration::max());
  }
  [[nodiscard]] auto acquire(std::string name) {
    return acquire(std::move(name), internal::kDefaultOptions);
  }
  // Completes with base::Result<std::optional<AsyncLock>>: nullopt if the lock was not acquired
  // within `options.wait` (default: zero).
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_acquire(std::string name, const locks::AcquireOptions& options,
                                 Token&& token = {}) {
    return internal::initiate<internal::TryAcquire, void(base::Result<std::optional<AsyncLock>>)>(
        std::forward<Token>(token), room_, core(), std::move(name), options,
        base::Duration::zero());
  }
  [[nodiscard]] auto try_acquire(std::string name) {
    return try_acquire(std::move(name), internal::kDefaultOptions);
  }
  // Do not compile: the options need a name.
  template <class... Token>
  void acquire(std::string /*name*/, locks::AcquireOptions&& /*options*/, Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }
  template <class... Token>
  void try_acquire(std::string /*name*/, locks::AcquireOptions&& /*options*/,
                   Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }

  // Completes with base::Result<std::optional<store::NameState>>: nullopt if the name is not held.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto look(std::string name, Token&& token = {}) {
    return internal::initiate<internal::LookCall,
                              void(base::Result<std::optional<store::NameState>>)>(
        std::forward<Token>(token), room_, std::move(name));
  }

  // Blocks until no release is running in the background: for the end of a program, and for tests.
  void wait_for_background() { room_->wait_for_background(); }

  // Returns the blocking face of the same provider: same queues, same renewal.
  [[nodiscard]] locks::LockProvider& blocking() const noexcept { return *provider_; }
  [[nodiscard]] const base::Clock& clock() const noexcept { return provider_->clock(); }
  // Return how many locks are held, and how many callers wait, through either face.
  [[nodiscard]] std::size_t held() const { return provider_->held(); }
  [[nodiscard]] std::size_t waiting() const { return provider_->waiting(); }

  // Returns the state that its operations share.
  [[nodiscard]] const std::shared_ptr<internal::EngineRoom>& room() const noexcept { return room_; }

 private:
  AsyncLockProvider(std::unique_ptr<locks::LockProvider> own, const AsyncOptions& how);

  [[nodiscard]] const std::shared_ptr<locks::ProviderCore>& core() const noexcept {
    return provider_->core();
  }

  std::unique_ptr<locks::LockProvider> own_;  // null if it shares another's
  locks::LockProvider* const provider_;
  const std::shared_ptr<internal::EngineRoom> room_;
};

}  // namespace holdfast::async
