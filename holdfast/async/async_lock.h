#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/internal/handled.h>
#include <holdfast/async/internal/lock_operations.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/lock.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/outcome.h>

namespace holdfast::async {

// A name that is held, as locks::Lock is, by a coroutine: nothing that it does blocks.
//
// Move-only; one thread at a time, but for `lost` and `check`, which any thread may ask. It may
// outlive its provider, which then no longer renews it. What is promised until `lost` fires is what
// locks::Lock promises; its callbacks run in the thread that finds out.
//
// A scope that ends with the lock held gives it back in the background: the executor goes on at
// once, and whoever waits for the name has it a moment later. `co_await lock.release()` says when,
// and whether it was still ours.
//
// `release` and `reduce` take any completion token, and are not cancelled: they end with the
// store's answer, or by the time at which the lease would have run out.
//
//   AsyncLock lock = co_await provider.acquire("report");
//   co_await write(lock.token());
//   co_await lock.release();
class [[nodiscard]] AsyncLock {
 public:
  AsyncLock() noexcept = default;
  AsyncLock(std::shared_ptr<internal::EngineRoom> room, locks::Lock lock) noexcept
      : room_(std::move(room)), lock_(std::move(lock)) {}
  AsyncLock(AsyncLock&& other) noexcept = default;
  AsyncLock& operator=(AsyncLock&& other) noexcept;
  ~AsyncLock();

  // Gives the name back, to the next waiter of this provider if there is one. Says whether the
  // lease was still ours: base::Result<store::ReleaseOutcome>. Twice is harmless.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto release(Token&& token = {}) {
    using Outcome = base::Result<store::ReleaseOutcome>;
    return internal::initiate_if_held<internal::ReleaseOperation, void(Outcome)>(
        Outcome(store::ReleaseOutcome::not_held), std::forward<Token>(token), room_, lock_.hold());
  }
  // Gives back all but so many of its permits, in one step, as locks::Lock::reduce does:
  // base::Result<void>.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto reduce(std::uint32_t permits, Token&& token = {}) {
    using Outcome = base::Result<void>;
    return internal::initiate_if_held<internal::ReduceOperation, void(Outcome)>(
        lock_.holds() ? Outcome() : lock_.check(), std::forward<Token>(token), room_, lock_.hold(),
        permits);
  }
  // Ends the handle but not the lease: returns its id.
  base::LeaseId detach() noexcept { return lock_.detach(); }

  // As those of locks::Lock.
  [[nodiscard]] std::stop_token lost() const { return lock_.lost(); }
  [[nodiscard]] base::Result<void> check() const { return lock_.check(); }
  [[nodiscard]] base::Duration time_left() const { return lock_.time_left(); }
  [[nodiscard]] bool holds() const noexcept { return lock_.holds(); }
  explicit operator bool() const noexcept { return holds(); }
  [[nodiscard]] bool released() const noexcept { return lock_.released(); }

  // Of a handle that holds.
  [[nodiscard]] const std::string& name() const noexcept { return lock_.name(); }
  [[nodiscard]] const base::LeaseId& id() const noexcept { return lock_.id(); }
  [[nodiscard]] const std::string& owner() const noexcept { return lock_.owner(); }
  [[nodiscard]] base::FencingToken token() const noexcept { return lock_.token(); }
  [[nodiscard]] const store::Permits& permits() const noexcept { return lock_.permits(); }

 private:
  std::shared_ptr<internal::EngineRoom> room_;
  locks::Lock lock_;  // before the room goes
};

}  // namespace holdfast::async
