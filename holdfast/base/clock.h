#pragma once

#include <time.h>

#include <chrono>
#include <stop_token>

namespace holdfast::base {

using Duration = std::chrono::nanoseconds;

// The time line of every Clock. It has no now() of its own, so a TimePoint can only come from an
// injected Clock and cannot be mixed with the time points of the standard clocks.
struct ClockEpoch {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ClockEpoch, Duration>;
  static constexpr bool is_steady = true;
};

using TimePoint = ClockEpoch::time_point;

// A source of time that never runs backwards, injected wherever Holdfast reads time or sleeps.
//
// Thread-safe. A Clock outlives everything that was given a reference to it.
// Time points of two clocks share a type but not an origin: never compare them.
class Clock {
 public:
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual TimePoint now() const noexcept = 0;

  // Returns a cheap reading: never ahead of now(), and behind it by at most coarse_lag(). So t has
  // come if `coarse_now() >= t`, and has not if `coarse_now() + coarse_lag() < t`.
  [[nodiscard]] virtual TimePoint coarse_now() const noexcept = 0;
  [[nodiscard]] virtual Duration coarse_lag() const noexcept = 0;

  // Blocks until now() >= when and returns true, or until a stop is requested and returns false at
  // once. Returns true if both hold already. TimePoint::max() sleeps until the stop.
  virtual bool sleep_until(TimePoint when, std::stop_token stop) const = 0;

 protected:
  Clock() = default;
};

// CLOCK_MONOTONIC: time since boot without the time the machine was suspended.
//
// The coarse reading is CLOCK_MONOTONIC_COARSE, the time of the kernel's last tick: a few
// nanoseconds to read. Its lag is stated as a tick plus 50 ms, because a busy virtual machine
// serves ticks late. Not guaranteed: the lag after the whole machine was paused for longer than
// that, until its next tick. So conclude "expired" from the coarse reading freely, and use now()
// where "not expired" must be right even after a pause.
//
// Final and inline: a caller that holds a SteadyClock pays no virtual call.
class SteadyClock final : public Clock {
 public:
  SteadyClock() noexcept;

  [[nodiscard]] TimePoint now() const noexcept override { return read(CLOCK_MONOTONIC); }
  [[nodiscard]] TimePoint coarse_now() const noexcept override {
    return read(CLOCK_MONOTONIC_COARSE);
  }
  [[nodiscard]] Duration coarse_lag() const noexcept override { return coarse_lag_; }
  bool sleep_until(TimePoint when, std::stop_token stop) const override;

 private:
  static TimePoint read(clockid_t id) noexcept {
    timespec time{};
    ::clock_gettime(id, &time);
    return TimePoint{std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec}};
  }

  const Duration coarse_lag_;
};

// Returns the process's SteadyClock. Never destroyed, so usable during static destruction.
const SteadyClock& steady_clock() noexcept;

// Returns CLOCK_BOOTTIME: like the steady clock, but it counts the time the machine was suspended,
// which the validity of a lease needs. It has no coarse variant: coarse_now() is now(), its lag 0.
// sleep_until() notices a resume from suspend within a quarter of a second. Never destroyed.
const Clock& boot_clock() noexcept;

}  // namespace holdfast::base
