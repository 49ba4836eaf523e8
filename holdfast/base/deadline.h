#pragma once

#include <algorithm>
#include <chrono>
#include <type_traits>

#include <holdfast/base/clock.h>
#include <holdfast/base/saturate.h>

namespace holdfast::base {

// The moment by which an operation must end: a duration at the surface, absolute inside.
//
// A value type; smaller is earlier, and never() is the latest. It belongs to the clock it was made
// with: use it only with readings of that clock. A duration too long to add means never; zero,
// negative or NaN means expired from the start.
//
//   const Deadline deadline = Deadline::after(clock, 5s);
//   while (!deadline.expired(clock.now())) { … }
class Deadline {
 public:
  [[nodiscard]] static constexpr Deadline at(TimePoint when) noexcept { return Deadline{when}; }

  [[nodiscard]] static constexpr Deadline never() noexcept { return Deadline{TimePoint::max()}; }

  template <class Rep, class Period>
    requires std::is_arithmetic_v<Rep>
  [[nodiscard]] static Deadline after(const Clock& clock,
                                      std::chrono::duration<Rep, Period> wait) noexcept {
    const Duration by = to_duration(wait);
    return by == Duration::max() ? never() : Deadline{add_saturating(clock.now(), by)};
  }

  // Returns the time for Clock::sleep_until(); TimePoint::max() for never().
  [[nodiscard]] constexpr TimePoint when() const noexcept { return when_; }

  [[nodiscard]] constexpr bool is_never() const noexcept { return when_ == TimePoint::max(); }

  [[nodiscard]] constexpr bool expired(TimePoint now) const noexcept {
    return !is_never() && now >= when_;
  }

  // Returns zero once expired; Duration::max() for never().
  [[nodiscard]] constexpr Duration remaining(TimePoint now) const noexcept {
    if (is_never()) return Duration::max();
    return std::max(subtract_saturating(when_, now), Duration::zero());
  }

  friend constexpr auto operator<=>(Deadline, Deadline) noexcept = default;

 private:
  constexpr explicit Deadline(TimePoint when) noexcept : when_{when} {}

  TimePoint when_;
};

}  // namespace holdfast::base
