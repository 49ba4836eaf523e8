#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock_state.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks {

class Hold;  // a lease that is kept: opaque

// A lock that is held. Its lease is renewed until the handle is released or destroyed.
//
// Move-only; one thread at a time, except `lost`, `check` and `state`, which any thread may call.
// May outlive its provider, which then no longer renews it. A moved-from handle holds nothing.
//
// Exclusion is promised until `lost` fires: no later than the time at which the last good renewal
// was sent, plus the ttl, less a margin, on a clock that counts suspend, whatever the network does.
// Not promised: that a resource notices by itself. Pass `token` to it, and let it reject stale
// tokens.
//
// Destruction does not throw. It releases the lease (or not: OnDestroy) and waits for the store no
// longer than the lease would have lasted.
//
//   auto lock = provider.acquire("report");
//   while (work_left() && !lock.lost().stop_requested()) { … }
class [[nodiscard]] Lock {
 public:
  Lock() noexcept = default;
  explicit Lock(std::shared_ptr<Hold> hold) noexcept;
  Lock(Lock&& other) noexcept = default;
  Lock& operator=(Lock&& other) noexcept;
  ~Lock();

  // Returns the token that fires when exclusion can no longer be promised; not on release. After a
  // loss, it has fired already. Stop callbacks run in the thread that fires it for all locks of the
  // provider: keep them short.
  [[nodiscard]] std::stop_token lost() const;
  // Returns an error (lost, or not_held after release) unless the lease is ours at this moment.
  // Right even after the process or the machine was stopped.
  [[nodiscard]] base::Result<void> check() const;
  // Returns how long exclusion is still promised without another renewal; zero when lost or
  // released.
  [[nodiscard]] base::Duration time_left() const;

  // Releases the name, to the next waiter of this process if there is one. Returns whether the
  // lease was still ours. A second call is harmless.
  base::Result<store::ReleaseOutcome> release();
  // Releases all but so many of its permits, in one step: a writer that becomes a reader, a part of
  // a pool. The token is a new one, and waiters are notified. After unknown_outcome it holds as
  // many as before or so many: call it again.
  [[nodiscard]] base::Result<void> reduce(std::uint32_t permits);
  // Ends the handle but not the lease: returns its id, for a later `renew` and `release`. Without
  // those it lasts for its ttl at most.
  base::LeaseId detach() noexcept;

  // Returns whether the handle has a lease: false after `release`, `detach` and a move. `check`
  // says whether that lease is still ours.
  [[nodiscard]] bool holds() const noexcept { return !released(); }
  explicit operator bool() const noexcept { return holds(); }
  [[nodiscard]] bool released() const noexcept;
  // Returns the state of the lock. A lock that was lost stays `lost` when it is released.
  [[nodiscard]] LockState state() const;

  // These need a handle that was granted a lease; they still answer after `release`.
  [[nodiscard]] const std::string& name() const noexcept;
  // Returns when the lease was granted, on LockProvider::clock.
  [[nodiscard]] base::TimePoint acquired_at() const noexcept;
  [[nodiscard]] const base::LeaseId& id() const noexcept;
  [[nodiscard]] const std::string& owner() const noexcept;
  [[nodiscard]] base::FencingToken token() const noexcept;
  [[nodiscard]] const store::Permits& permits() const noexcept;
  [[nodiscard]] OnDestroy on_destroy() const noexcept;

  // Returns the lease itself, for authors of another face (see steps/).
  [[nodiscard]] const std::shared_ptr<Hold>& hold() const noexcept { return hold_; }

 private:
  std::shared_ptr<Hold> hold_;
};

}  // namespace holdfast::locks
