#pragma once

#include <chrono>

#include <holdfast/base/saturate.h>

namespace holdfast::base {

// Returns the steady time point that is `time` from now, at most the end of time.
template <class Rep, class Period>
std::chrono::steady_clock::time_point steady_deadline(
    const std::chrono::duration<Rep, Period>& time) {
  const auto now = std::chrono::steady_clock::now();
  const auto left = to_duration(time);
  const auto most = std::chrono::steady_clock::time_point::max() - now;
  return left < most ? now + left : std::chrono::steady_clock::time_point::max();
}

// Converts a time point of any clock, once: a later jump of that clock does not count.
template <class Clock, class Duration>
std::chrono::steady_clock::time_point steady_deadline(
    const std::chrono::time_point<Clock, Duration>& time) {
  const TimePoint then(to_duration(time.time_since_epoch()));
  const TimePoint now(to_duration(Clock::now().time_since_epoch()));
  return steady_deadline(subtract_saturating(then, now));
}

}  // namespace holdfast::base
