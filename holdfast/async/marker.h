#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/internal/blocking_call.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ttl.h>
#include <holdfast/recipes/marker.h>

namespace holdfast::async {

// recipes::MarkGuard for coroutines: the mark that a `Marker::try_mark` has set.
//
// Move-only; one thread at a time, and one operation at a time. Destruction clears the mark in the
// background; `co_await mark.clear()` completes when it is cleared.
class [[nodiscard]] AsyncMark {
 public:
  AsyncMark() noexcept = default;
  AsyncMark(std::shared_ptr<internal::EngineRoom> room, recipes::MarkGuard guard);
  AsyncMark(AsyncMark&& other) noexcept = default;
  AsyncMark& operator=(AsyncMark&& other) noexcept;
  ~AsyncMark();

  // Completes with base::Result<store::RenewOutcome>, as MarkGuard::extend does.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto extend(base::Ttl ttl, Token&& token = {}) {
    return internal::initiate_blocking<base::Result<store::RenewOutcome>>(
        std::forward<Token>(token), room_,
        [guard = guard_, ttl]() -> base::Result<store::RenewOutcome> {
          return guard ? guard->extend(ttl) : store::RenewOutcome::lost;
        });
  }
  // Completes with base::Result<recipes::ClearOutcome>.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto clear(Token&& token = {}) {
    return internal::initiate_blocking<base::Result<recipes::ClearOutcome>>(
        std::forward<Token>(token), room_,
        [guard = std::exchange(guard_, nullptr)]() -> base::Result<recipes::ClearOutcome> {
          return guard ? guard->clear() : recipes::ClearOutcome::was_not_marked;
        },
        internal::Purpose::give_back);
  }
  // Leaves the mark until it expires.
  void keep() noexcept;

  // Returns whether destruction would clear a mark: false after `clear`, `keep` and a move.
  [[nodiscard]] bool holds() const noexcept { return guard_ != nullptr; }
  explicit operator bool() const noexcept { return holds(); }

 private:
  std::shared_ptr<internal::EngineRoom> room_;
  std::shared_ptr<recipes::MarkGuard> guard_;  // shared with an operation under way; null: no mark
};

// recipes::Marker for coroutines, with the same promises; both see the same marks.
//
// Thread-safe. Operations complete as those of AsyncLockProvider do, and end within
// MarkerOptions::timeout; they cannot be cancelled. Each uses a thread of the provider's pool
// unless the store is in memory; limit_exceeded if too many wait for one. May outlive its provider.
//
//   AsyncMarker marker(provider);
//   auto mine = co_await marker.try_mark("file/" + hash, 5min);
//   if (mine && *mine) co_await process();
class AsyncMarker {
 public:
  explicit AsyncMarker(const AsyncLockProvider& provider, recipes::MarkerOptions options = {});

  // Completes with base::Result<void>.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto mark(std::string key, base::Ttl ttl, Token&& token = {}) {
    return internal::initiate_blocking<base::Result<void>>(
        std::forward<Token>(token), room_,
        [marker = marker_, key = std::move(key), ttl] { return marker->mark(key, ttl); });
  }
  // Completes with base::Result<std::optional<AsyncMark>>: nullopt if the key is marked already.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_mark(std::string key, base::Ttl ttl, Token&& token = {}) {
    return internal::initiate_blocking<base::Result<std::optional<AsyncMark>>>(
        std::forward<Token>(token), room_,
        [room = room_, marker = marker_, key = std::move(key), ttl] {
          return try_mark_blocking(room, *marker, key, ttl);
        });
  }
  // Completes with base::Result<recipes::ClearOutcome>.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto clear(std::string key, Token&& token = {}) {
    return internal::initiate_blocking<base::Result<recipes::ClearOutcome>>(
        std::forward<Token>(token), room_,
        [marker = marker_, key = std::move(key)] { return marker->clear(key); });
  }
  // Completes with base::Result<bool>.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto is_marked(std::string key, Token&& token = {}) {
    return internal::initiate_blocking<base::Result<bool>>(
        std::forward<Token>(token), room_,
        [marker = marker_, key = std::move(key)] { return marker->is_marked(key); });
  }
  // Completes with base::Result<std::optional<base::Duration>>: nullopt if the key is not marked.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto time_left(std::string key, Token&& token = {}) {
    return internal::initiate_blocking<base::Result<std::optional<base::Duration>>>(
        std::forward<Token>(token), room_,
        [marker = marker_, key = std::move(key)] { return marker->time_left(key); });
  }

 private:
  [[nodiscard]] static base::Result<std::optional<AsyncMark>> try_mark_blocking(
      const std::shared_ptr<internal::EngineRoom>& room, recipes::Marker& marker,
      const std::string& key, base::Ttl ttl);

  const std::shared_ptr<internal::EngineRoom> room_;
  const std::shared_ptr<recipes::Marker> marker_;
};

}  // namespace holdfast::async
