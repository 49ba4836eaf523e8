#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <holdfast/async/async_key_wait.h>
#include <holdfast/async/internal/key_table.h>

namespace holdfast::async::internal {

// A wait that only the cancellation slot ends.
struct UnlimitedWait {};

[[nodiscard]] inline bool is_over(const UnlimitedWait& /*wait*/) { return false; }
[[nodiscard]] inline bool is_over(const AsyncKeyWait& wait) { return wait.stop.stop_requested(); }

// Ends a wait, from a cancellation slot or a stop token.
struct AbortWait {
  void operator()() const noexcept { waiter->table.cancel(*waiter, KeyOutcome::aborted); }
  // Nothing has happened yet when a wait is cancelled, so every type of cancellation is acceptable.
  void operator()(boost::asio::cancellation_type_t type) const noexcept {
    if (type != boost::asio::cancellation_type::none) (*this)();
  }

  KeyWaiter* waiter;
};

// The state with which an operation ends its wait.
template <class Wait, class Executor>
class WaitLimits;

template <class Executor>
class WaitLimits<UnlimitedWait, Executor> {
 public:
  template <class Start>
  void start_timer(const Executor& /*executor*/, const UnlimitedWait& /*wait*/,
                   const Start& /*start*/) {}
  void cancel_timer() {}
  void listen(const UnlimitedWait& /*wait*/, KeyWaiter& /*waiter*/) {}
};

template <class Executor>
class WaitLimits<AsyncKeyWait, Executor> {
 public:
  // Calls `start` with the timer, if there is a deadline.
  template <class Start>
  void start_timer(const Executor& executor, const AsyncKeyWait& wait, const Start& start) {
    if (wait.until && *wait.until != Clock::time_point::max()) {
      start(timer_.emplace(executor, *wait.until));
    }
  }
  void cancel_timer() {
    if (timer_) timer_->cancel();
  }
  void listen(const AsyncKeyWait& wait, KeyWaiter& waiter) {
    if (wait.stop.stop_possible()) {
      stop_callback_.emplace(wait.stop, AbortWait{&waiter});
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor>;

  std::optional<Timer> timer_;
  std::optional<std::stop_callback<AbortWait>> stop_callback_;
};

}  // namespace holdfast::async::internal
