#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <stop_token>

#include <holdfast/base/clock.h>

namespace holdfast::base {

// A clock that stands still until a test moves it.
//
// Thread-safe. Must outlive every thread that sleeps on it.
// sleep_until() blocks until the clock is moved to its time, or until its stop token fires.
// Time never runs backwards: moving to an earlier time, or by a negative duration, does nothing.
//
//   ManualClock clock;
//   std::jthread sleeper{[&](std::stop_token stop) { clock.sleep_until(clock.now() + 1s, stop); }};
//   clock.wait_for_sleepers(1);  clock.advance(1s);
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start = TimePoint{}) noexcept;

  [[nodiscard]] TimePoint now() const noexcept override;
  [[nodiscard]] TimePoint coarse_now() const noexcept override { return now(); }
  [[nodiscard]] Duration coarse_lag() const noexcept override { return Duration::zero(); }
  bool sleep_until(TimePoint when, std::stop_token stop) const override;

  // Moves the clock and wakes the sleepers whose time has come. Saturates at TimePoint::max().
  void advance(Duration by);
  void set(TimePoint to);

  // Returns how many threads are blocked in sleep_until() for a time that has not come. A sleeper
  // stops counting the moment the clock passes its time, even before it runs again; a stopped
  // sleeper counts until it has noticed.
  [[nodiscard]] std::size_t sleepers() const;

  // Blocks, without limit, until sleepers() is at least `count`.
  void wait_for_sleepers(std::size_t count) const;

 private:
  void move_to(TimePoint to);
  std::size_t count_sleepers() const;

  // Written under mutex_, read without it.
  std::atomic<Duration::rep> now_;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any moved_;
  mutable std::condition_variable arrived_;
  mutable std::multiset<TimePoint> wake_times_;  // protected by mutex_
};

}  // namespace holdfast::base
