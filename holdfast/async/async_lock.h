#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/internal/calls.h>
#include <holdfast/async/internal/procedure_operation.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/lock.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/outcome.h>

namespace holdfast::async {

// A lock held by a coroutine, like locks::Lock, except that no operation blocks.
//
// Move-only; one thread at a time, except `lost`, `check` and `state`, which any thread may call.
// May outlive its provider, which then no longer renews it. Until `lost` fires it promises what
// locks::Lock promises; callbacks of `lost` run in the thread that detects the loss.
//
// The end of a scope releases the lock in the background: the executor continues at once, and the
// next waiter gets the name a moment later. `co_await lock.release()` completes when the lock is
// released, and tells whether it was still held.
//
// `release` and `reduce` take any completion token, and cannot be cancelled: they end with the
// store's answer, or at the time at which the lease would have expired.
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

  // Releases the name, to the next waiter of this provider if there is one. Completes with
  // base::Result<store::ReleaseOutcome>: whether the lease was still held. Releasing twice is
  // harmless.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto release(Token&& token = {}) {
    using Outcome = base::Result<store::ReleaseOutcome>;
    return internal::initiate_if_held<internal::ReleaseCall, void(Outcome)>(
        Outcome(store::ReleaseOutcome::not_held), std::forward<Token>(token), room_, lock_.hold());
  }
  // Keeps this many permits and releases the others, in one step, as locks::Lock::reduce does.
  // Completes with base::Result<void>.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto reduce(std::uint32_t permits, Token&& token = {}) {
    using Outcome = base::Result<void>;
    return internal::initiate_if_held<internal::ReduceCall, void(Outcome)>(
        lock_.holds() ? Outcome() : lock_.check(), std::forward<Token>(token), room_, lock_.hold(),
        permits);
  }
  // Ends the handle but not the lease, and returns the lease's id.
  base::LeaseId detach() noexcept { return lock_.detach(); }
  // Ends the handle but not the lease, and returns the same lock as threads hold it.
  [[nodiscard]] locks::Lock into_blocking() && noexcept { return std::move(lock_); }

  // The functions of locks::Lock.
  [[nodiscard]] std::stop_token lost() const { return lock_.lost(); }
  [[nodiscard]] base::Result<void> check() const { return lock_.check(); }
  [[nodiscard]] base::Duration time_left() const { return lock_.time_left(); }
  [[nodiscard]] bool holds() const noexcept { return lock_.holds(); }
  explicit operator bool() const noexcept { return holds(); }
  [[nodiscard]] bool released() const noexcept { return lock_.released(); }
  [[nodiscard]] locks::LockState state() const { return lock_.state(); }

  // These need a handle that was granted a lease.
  [[nodiscard]] const std::string& name() const noexcept { return lock_.name(); }
  [[nodiscard]] base::TimePoint acquired_at() const noexcept { return lock_.acquired_at(); }
  [[nodiscard]] const base::LeaseId& id() const noexcept { return lock_.id(); }
  [[nodiscard]] const std::string& owner() const noexcept { return lock_.owner(); }
  [[nodiscard]] base::FencingToken token() const noexcept { return lock_.token(); }
  [[nodiscard]] const store::Permits& permits() const noexcept { return lock_.permits(); }

 private:
  std::shared_ptr<internal::EngineRoom> room_;
  locks::Lock lock_;  // destroyed before the room
};

}  // namespace holdfast::async
