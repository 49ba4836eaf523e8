#pragma once

#include <cstdint>
#include <optional>

#include <holdfast/base/clock.h>
#include <holdfast/base/saturate.h>
#include <holdfast/recipes/circuit_state.h>

namespace holdfast::recipes::internal {

// A state machine that decides whether to ask a failing store: no I/O, no threads, no clock.
//
//   state      event                       becomes    may ask the store
//   closed     failures in a row           open       every caller
//   open       retry_after, and jitter     half_open  no caller before; then one, the probe
//   half_open  the probe succeeds          closed     no caller except the probe
//              the probe fails             open
//              the probe says nothing      open       the next call is the probe
//   any        an answer to another call   closed     (a renewal, or a call that was under way)
//
// `jitter` is a random number from 0 to 1: without it all machines would probe at the same time.
class Breaker {
 public:
  struct Limits {
    std::uint32_t failures = 3;
    base::Duration retry_after = std::chrono::seconds(5);
  };

  explicit Breaker(const Limits& limits) noexcept : limits_(limits) {}

  [[nodiscard]] CircuitState state() const noexcept { return state_; }
  // Returns whether `admit` would let a call through.
  [[nodiscard]] bool would_admit(base::TimePoint now) const noexcept {
    return state_ == CircuitState::closed || (state_ == CircuitState::open && now >= retry_at_);
  }
  // Returns whether to ask the store. The first call after the pause is the probe.
  bool admit(base::TimePoint now) noexcept {
    if (!would_admit(now)) {
      return false;
    }
    if (state_ == CircuitState::open) {
      state_ = CircuitState::half_open;
    }
    return true;
  }

  void on_answer() noexcept {
    state_ = CircuitState::closed;
    failed_ = 0;
  }

  // Records the failure of a call that was admitted, or that needed no admission. In the state
  // `open` the call was already under way, and its failure means nothing new.
  void on_failure(base::TimePoint now, double jitter) noexcept {
    if (state_ == CircuitState::open) {
      return;
    }
    ++failed_;
    if (state_ == CircuitState::half_open || failed_ >= limits_.failures) {
      state_ = CircuitState::open;
      const auto later =
          std::chrono::duration_cast<base::Duration>(limits_.retry_after * jitter / 4);
      retry_at_ = base::add_saturating(now, limits_.retry_after + later);
    }
  }

  // Ends a call that never reached the store, or whose end says nothing about it.
  void on_nothing() noexcept {
    if (state_ == CircuitState::half_open) {
      state_ = CircuitState::open;  // retry_at_ has passed
    }
  }

  [[nodiscard]] base::TimePoint retry_at() const noexcept { return retry_at_; }

 private:
  const Limits limits_;
  CircuitState state_ = CircuitState::closed;
  std::uint32_t failed_ = 0;  // since the last answer
  base::TimePoint retry_at_{};
};

}  // namespace holdfast::recipes::internal
