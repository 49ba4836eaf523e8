#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/async/async_key_wait.h>
#include <holdfast/async/internal/key_all_operation.h>
#include <holdfast/async/internal/key_initiation.h>
#include <holdfast/async/key_guard.h>
#include <holdfast/async/key_list.h>
#include <holdfast/async/key_text.h>
#include <holdfast/async/limit_exceeded.h>
#include <holdfast/base/steady_deadline.h>
#include <holdfast/local/key_stats.h>

namespace holdfast::async {

// Completion tokens for the operations below: use_awaitable, use_future, deferred, a callback, …
template <class Token>
concept LockToken =
    boost::asio::completion_token_for<Token, internal::LockSignature<internal::KeyMode::exclusive>>;
template <class Token>
concept LockSharedToken =
    boost::asio::completion_token_for<Token, internal::LockSignature<internal::KeyMode::shared>>;
template <class Token>
concept LockAllToken =
    boost::asio::completion_token_for<Token,
                                      internal::LockAllSignature<internal::KeyMode::exclusive>>;
template <class Token>
concept LockAllSharedToken =
    boost::asio::completion_token_for<Token, internal::LockAllSignature<internal::KeyMode::shared>>;

struct AsyncKeyLockOptions {
  // The most operations that may wait at a time, over all keys; beyond that they complete with
  // limit_exceeded() at once. A `lock_all` counts as one more. At least 1.
  std::size_t max_waiters = 1'000'000;
};

// Reader-writer locks by key for coroutines on Boost.Asio. The lock of a key exists only while the
// key is held or waited for.
//
// Thread-safe: several threads of one io_context, and several io_contexts, may use one
// AsyncKeyLock. Keys are any bytes, of any length, the empty key included. See KeyText for how long
// they must stay valid.
//
// No operation blocks a thread. An operation completes through the executor that is associated with
// its handler, with an error_code and a guard; with `co_await` the error is thrown. A coroutine
// that finds its key free continues at once. The operations take any completion token.
//
// A waiting operation ends with operation_aborted by its cancellation slot (of any type: `||`,
// bind_cancellation_slot, co_spawn) or its stop token, and with timed_out at its deadline. It then
// holds nothing, and the waiters behind it move up. It ends with limit_exceeded() instead of
// waiting if AsyncKeyLockOptions::max_waiters others wait. A cancellation that comes after the key
// was passed to the operation does nothing: the operation completes with its guard.
//
// Fairness: strictly in order of arrival. A reader that arrives while a writer waits queues behind
// it; readers that are adjacent in the queue enter together. Not re-entrant: a coroutine that waits
// for a key that it holds waits for ever.
//
// Locking a free key allocates nothing once as many keys were held before; a wait costs one
// allocation, from the handler's associated allocator.
//
// When it is destroyed, waiters complete with operation_aborted, and guards remain valid; an
// operation that has not begun must not begin any more. When an execution context is destroyed, the
// operations that it would have resumed are dropped, as Asio drops pending operations: their
// handlers are destroyed and never called.
//
//   AsyncKeyLock keys;
//   auto guard = co_await keys.lock("invoice:42");
//   auto other = co_await keys.lock_for("invoice:43", 50ms);  // throws timed_out
class AsyncKeyLock {
 public:
  AsyncKeyLock() : AsyncKeyLock(AsyncKeyLockOptions{}) {}
  // Throws base::Exception with invalid_argument for invalid options.
  explicit AsyncKeyLock(const AsyncKeyLockOptions& options);
  ~AsyncKeyLock();
  AsyncKeyLock(const AsyncKeyLock&) = delete;
  AsyncKeyLock& operator=(const AsyncKeyLock&) = delete;

  template <LockToken Token = boost::asio::use_awaitable_t<>>
  auto lock(KeyText key, Token&& token = Token()) {
    return internal::async_lock<kExclusive>(*table_, std::move(key), internal::UnlimitedWait{},
                                            std::forward<Token>(token));
  }
  template <LockSharedToken Token = boost::asio::use_awaitable_t<>>
  auto lock_shared(KeyText key, Token&& token = Token()) {
    return internal::async_lock<kShared>(*table_, std::move(key), internal::UnlimitedWait{},
                                         std::forward<Token>(token));
  }

  template <LockToken Token = boost::asio::use_awaitable_t<>>
  auto lock(KeyText key, AsyncKeyWait wait, Token&& token = Token()) {
    return internal::async_lock<kExclusive>(*table_, std::move(key), std::move(wait),
                                            std::forward<Token>(token));
  }
  template <LockSharedToken Token = boost::asio::use_awaitable_t<>>
  auto lock_shared(KeyText key, AsyncKeyWait wait, Token&& token = Token()) {
    return internal::async_lock<kShared>(*table_, std::move(key), std::move(wait),
                                         std::forward<Token>(token));
  }

  // Wait for this long, or until a time point of any clock.
  template <class Time, LockToken Token = boost::asio::use_awaitable_t<>>
  auto lock_for(KeyText key, Time time, Token&& token = Token()) {
    return lock(std::move(key), AsyncKeyWait(base::steady_deadline(time)),
                std::forward<Token>(token));
  }
  template <class Time, LockToken Token = boost::asio::use_awaitable_t<>>
  auto lock_until(KeyText key, Time time, Token&& token = Token()) {
    return lock(std::move(key), AsyncKeyWait(base::steady_deadline(time)),
                std::forward<Token>(token));
  }
  template <class Time, LockSharedToken Token = boost::asio::use_awaitable_t<>>
  auto lock_shared_for(KeyText key, Time time, Token&& token = Token()) {
    return lock_shared(std::move(key), AsyncKeyWait(base::steady_deadline(time)),
                       std::forward<Token>(token));
  }
  template <class Time, LockSharedToken Token = boost::asio::use_awaitable_t<>>
  auto lock_shared_until(KeyText key, Time time, Token&& token = Token()) {
    return lock_shared(std::move(key), AsyncKeyWait(base::steady_deadline(time)),
                       std::forward<Token>(token));
  }

  // Wait for this long, and return nullopt if the key was not locked in time, as KeyLock does.
  // Other errors are thrown.
  template <class Rep, class Period>
  [[nodiscard]] boost::asio::awaitable<std::optional<AsyncExclusiveGuard>> try_lock_for(
      KeyText key, std::chrono::duration<Rep, Period> time) {
    auto [error, guard] =
        co_await lock_for(std::move(key), time, boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return in_time(error, std::move(guard));
  }
  template <class Rep, class Period>
  [[nodiscard]] boost::asio::awaitable<std::optional<AsyncSharedGuard>> try_lock_shared_for(
      KeyText key, std::chrono::duration<Rep, Period> time) {
    auto [error, guard] = co_await lock_shared_for(
        std::move(key), time, boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return in_time(error, std::move(guard));
  }

  // Locks several keys, all or none: completes with a vector of guards, one for each different key.
  // All callers lock in the same order, so that they cannot deadlock.
  template <LockAllToken Token = boost::asio::use_awaitable_t<>>
  auto lock_all(KeyList keys, Token&& token = Token()) {
    return internal::async_lock_all<kExclusive>(*table_, std::move(keys), internal::UnlimitedWait{},
                                                std::forward<Token>(token));
  }
  template <LockAllToken Token = boost::asio::use_awaitable_t<>>
  auto lock_all(KeyList keys, AsyncKeyWait wait, Token&& token = Token()) {
    return internal::async_lock_all<kExclusive>(*table_, std::move(keys), std::move(wait),
                                                std::forward<Token>(token));
  }
  template <LockAllSharedToken Token = boost::asio::use_awaitable_t<>>
  auto lock_all_shared(KeyList keys, Token&& token = Token()) {
    return internal::async_lock_all<kShared>(*table_, std::move(keys), internal::UnlimitedWait{},
                                             std::forward<Token>(token));
  }
  template <LockAllSharedToken Token = boost::asio::use_awaitable_t<>>
  auto lock_all_shared(KeyList keys, AsyncKeyWait wait, Token&& token = Token()) {
    return internal::async_lock_all<kShared>(*table_, std::move(keys), std::move(wait),
                                             std::forward<Token>(token));
  }

  // Return nullopt at once if the key is locked or waited for. These are not Asio operations: any
  // thread may call them. They throw std::bad_alloc if there is no memory for a new key, where the
  // operations above complete with no_memory.
  [[nodiscard]] std::optional<AsyncExclusiveGuard> try_lock(std::string_view key);
  [[nodiscard]] std::optional<AsyncSharedGuard> try_lock_shared(std::string_view key);

  // Returns how many keys are held at this moment. Every waiter waits for one of them.
  [[nodiscard]] std::size_t size() const;
  // Returns statistics since it was made. An operation that limit_exceeded() refused is in none.
  [[nodiscard]] local::KeyLockStats stats() const;
  // Returns every key that is held. Reads one shard after the other: exact for each key, but not
  // one moment for all of them.
  [[nodiscard]] std::vector<local::KeyState> snapshot() const;

 private:
  template <class Guard>
  static std::optional<Guard> in_time(const boost::system::error_code& error, Guard&& guard) {
    if (error && error != boost::asio::error::timed_out) {
      throw boost::system::system_error(error);
    }
    return error ? std::nullopt : std::optional<Guard>(std::move(guard));
  }

  static constexpr auto kExclusive = internal::KeyMode::exclusive;
  static constexpr auto kShared = internal::KeyMode::shared;

  internal::KeyTable* const table_;  // deletes itself with its last reference
};

}  // namespace holdfast::async
