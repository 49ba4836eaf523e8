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
#include <holdfast/async/internal/handled.h>
#include <holdfast/async/internal/lock_operations.h>
#include <holdfast/async/internal/look_operation.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::async {

namespace internal {

class TryAcquire : public AcquireOperation {
 public:
  using AcquireOperation::AcquireOperation;
  [[nodiscard]] std::tuple<base::Result<std::optional<AsyncLock>>> take();
};

class Acquire : public AcquireOperation {
 public:
  using AcquireOperation::AcquireOperation;
  [[nodiscard]] std::tuple<std::exception_ptr, AsyncLock> take();
};

}  // namespace internal

// Acquires names from a store for coroutines, and keeps them alive, as locks::LockProvider does for
// threads: the same line for each name, the same hand-over, the same renewal.
//
// Thread-safe. Nothing that it offers blocks: who waits is an entry in the line, and costs no
// thread. One thread tells the time for all who wait, one renews all locks; a blocking engine is
// asked in a small pool (AsyncOptions), which also gives back in the background. Redis is asked
// through its pipelined connection.
//
// Operations take any completion token, `use_awaitable` where none is given, and complete on the
// handler's associated executor (asio::system_executor if it has none). They are cancelled by the
// handler's cancellation slot, of whatever type, and by AcquireOptions::stop: both end the wait
// with ErrorCode::cancelled, after what may have been granted was given back. Waits are measured by
// ProviderOptions::clock.
//
// When the execution context ends while operations wait, their handlers are destroyed uncalled, and
// they leave the line and give back what they have, in the background. When a provider
// that was made from a store ends, waiting `acquire`s complete with ErrorCode::cancelled, and
// `lost` fires on locks that still live. One that shares a LockProvider ends without them: they go
// on until that one ends. The destructor waits for what is being given back in the background, each
// request to its deadline at the most.
//
// Errors as for locks::LockProvider, and limit_exceeded if too much waits for the pool.
//
//   AsyncLockProvider provider(store);
//   const AcquireOptions brief{.wait = 5s};   // named, see below
//   AsyncLock lock = co_await provider.acquire("report", brief);
class AsyncLockProvider {
 public:
  // Both: base::Exception, invalid_argument for options that make no sense, limit_exceeded if there
  // is no thread to be had.
  explicit AsyncLockProvider(std::shared_ptr<store::LeaseStore> store,
                             locks::ProviderOptions options = {}, const AsyncOptions& how = {});
  // Shares the lines and the renewal of `provider`, which outlives it: a release on one side hands
  // the name to a waiter on the other.
  explicit AsyncLockProvider(locks::LockProvider& provider, const AsyncOptions& how = {});
  ~AsyncLockProvider();
  AsyncLockProvider(const AsyncLockProvider&) = delete;
  AsyncLockProvider& operator=(const AsyncLockProvider&) = delete;

  // The AsyncLock; base::Exception as locks::LockProvider::acquire.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto acquire(std::string name, const locks::AcquireOptions& options,
                             Token&& token = {}) {
    return internal::initiate<internal::Acquire, void(std::exception_ptr, AsyncLock)>(
        std::forward<Token>(token), room_, core(), std::move(name), options, base::Duration::max());
  }
  [[nodiscard]] auto acquire(std::string name) { return acquire(std::move(name), defaults()); }
  // base::Result<std::optional<AsyncLock>>: nothing if the name was not to be had within
  // `options.wait` (default: at once).
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_acquire(std::string name, const locks::AcquireOptions& options,
                                 Token&& token = {}) {
    return internal::initiate<internal::TryAcquire, void(base::Result<std::optional<AsyncLock>>)>(
        std::forward<Token>(token), room_, core(), std::move(name), options,
        base::Duration::zero());
  }
  [[nodiscard]] auto try_acquire(std::string name) {
    return try_acquire(std::move(name), defaults());
  }
  // Name the options: g++ 12 destroys an aggregate that is made within a co_await expression twice.
  template <class... Token>
  void acquire(std::string name, locks::AcquireOptions&& options, Token&&...) = delete;
  template <class... Token>
  void try_acquire(std::string name, locks::AcquireOptions&& options, Token&&...) = delete;

  // base::Result<std::optional<store::NameState>>: nothing if it is not held.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto look(std::string name, Token&& token = {}) {
    return internal::initiate<internal::LookOperation,
                              void(base::Result<std::optional<store::NameState>>)>(
        std::forward<Token>(token), room_, std::move(name));
  }

  // Blocks until nothing is being given back in the background: for the end of a program, and for
  // tests.
  void wait_for_background() { room_->wait_for_background(); }

  // The blocking face of the same provider: same lines, same renewal.
  [[nodiscard]] locks::LockProvider& blocking() const noexcept { return *provider_; }
  [[nodiscard]] const base::Clock& clock() const noexcept { return provider_->clock(); }
  // How many locks are held, and how many callers wait, through either face.
  [[nodiscard]] std::size_t held() const { return provider_->held(); }
  [[nodiscard]] std::size_t waiting() const { return provider_->waiting(); }

  // What its operations share.
  [[nodiscard]] const std::shared_ptr<internal::EngineRoom>& room() const noexcept { return room_; }

 private:
  AsyncLockProvider(std::unique_ptr<locks::LockProvider> own, const AsyncOptions& how);

  [[nodiscard]] static const locks::AcquireOptions& defaults();
  [[nodiscard]] const std::shared_ptr<locks::internal::ProviderCore>& core() const noexcept {
    return provider_->core();
  }

  std::unique_ptr<locks::LockProvider> own_;  // null if it shares another's
  locks::LockProvider* const provider_;
  const std::shared_ptr<internal::EngineRoom> room_;
};

}  // namespace holdfast::async
