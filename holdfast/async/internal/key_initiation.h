#pragma once

#include <string_view>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/async/internal/key_operation.h>
#include <holdfast/async/key_text.h>

namespace holdfast::async::internal {

// A completion that is known when the operation begins, to be posted to the executor.
template <KeyMode kMode, class Handler>
struct KeyDelivery {
  using allocator_type = HandlerAllocator<Handler>;  // NOLINT(readability-identifier-naming)
  allocator_type get_allocator() const noexcept { return allocator_of(handler); }

  void operator()() { std::move(handler)(error, std::move(guard)); }

  Handler handler;
  boost::system::error_code error;
  BasicKeyGuard<kMode> guard;
};

template <KeyMode kMode, class Wait>
KeyAttempt try_enter(KeyTable& table, const KeyText& key, const Wait& wait) {
  if (is_over(wait)) {
    table.count_cancelled(key.view());
    return {KeyOutcome::aborted, nullptr};
  }
  const KeyAttempt attempt = table.try_enter(key.view(), kMode);
  const bool is_refused = attempt.outcome == KeyOutcome::busy && !table.has_room();
  return is_refused ? KeyAttempt{KeyOutcome::too_many, nullptr} : attempt;
}

// Starts a lock operation, for asio::async_initiate.
template <KeyMode kMode>
struct KeyInitiation {
  template <class Handler, class Wait>
  void operator()(Handler handler, const KeyText& key, const Wait& wait) const {
    const KeyAttempt attempt = try_enter<kMode>(*table, key, wait);
    if (attempt.outcome == KeyOutcome::busy) {
      KeyOperation<kMode, Wait, Handler>::start(*table, key.view(), std::move(handler), wait);
      return;
    }
    BasicKeyGuard<kMode> guard;
    if (attempt.outcome == KeyOutcome::entered) {
      guard = KeyGuards::make<kMode>(*table, attempt.entry);
    }
    const auto executor = asio::get_associated_executor(handler);
    asio::post(executor, KeyDelivery<kMode, Handler>{std::move(handler), to_error(attempt.outcome),
                                                     std::move(guard)});
  }

  KeyTable* table;
};

template <KeyMode kMode>
using LockSignature = void(boost::system::error_code, BasicKeyGuard<kMode>);

// Starts an operation that found its key locked.
template <KeyMode kMode>
struct KeyWaitInitiation {
  template <class Handler, class Wait>
  void operator()(Handler handler, std::string_view key, const Wait& wait) const {
    KeyOperation<kMode, Wait, Handler>::start(*table, key, std::move(handler), wait);
  }

  KeyTable* table;
};

// In a coroutine a free key needs no pass through the executor: the coroutine just continues.
template <KeyMode kMode, class Wait, class Executor>
asio::awaitable<BasicKeyGuard<kMode>, Executor> lock_in_coroutine(
    KeyTable& table, KeyText key, Wait wait, asio::use_awaitable_t<Executor> token) {
  const KeyAttempt attempt = try_enter<kMode>(table, key, wait);
  if (attempt.outcome == KeyOutcome::entered) {
    co_return KeyGuards::make<kMode>(table, attempt.entry);
  }
  if (attempt.outcome != KeyOutcome::busy) {
    throw boost::system::system_error(to_error(attempt.outcome));
  }
  co_return co_await asio::async_initiate<asio::use_awaitable_t<Executor>, LockSignature<kMode>>(
      KeyWaitInitiation<kMode>{&table}, token, key.view(), std::move(wait));
}

template <KeyMode kMode, class Wait, class Token>
auto async_lock(KeyTable& table, KeyText key, Wait wait, Token&& token) {
  if constexpr (requires { lock_in_coroutine<kMode>(table, std::move(key), wait, token); }) {
    return lock_in_coroutine<kMode>(table, std::move(key), std::move(wait), token);
  } else {
    return asio::async_initiate<Token, LockSignature<kMode>>(KeyInitiation<kMode>{&table}, token,
                                                             std::move(key), std::move(wait));
  }
}

}  // namespace holdfast::async::internal
