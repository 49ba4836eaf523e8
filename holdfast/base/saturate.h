#pragma once

#include <chrono>
#include <limits>
#include <ratio>
#include <type_traits>

#include <holdfast/base/clock.h>

namespace holdfast::base {

// Converts any duration to nanoseconds without the overflow of the standard's implicit conversion:
// a value that does not fit becomes Duration::max() or Duration::min(). Fractions of a nanosecond
// are cut off, and a floating-point NaN becomes zero.
template <class Rep, class Period>
  requires std::is_arithmetic_v<Rep>
[[nodiscard]] constexpr Duration to_duration(std::chrono::duration<Rep, Period> value) noexcept {
  using Limits = std::numeric_limits<Duration::rep>;
  if constexpr (std::is_floating_point_v<Rep>) {
    const long double nanos = std::chrono::duration<long double, std::nano>{value}.count();
    if (nanos != nanos) return Duration::zero();
    // 2^63 exactly: the largest rep itself is not representable in every long double.
    constexpr long double kBound = -static_cast<long double>(Limits::min());
    if (nanos >= kBound) return Duration::max();
    if (nanos < -kBound) return Duration::min();
    return Duration{static_cast<Duration::rep>(nanos)};
  } else {
    __extension__ using Wide = __int128;
    using Factor = std::ratio_divide<Period, Duration::period>;
    Wide nanos{};
    const bool overflow = __builtin_mul_overflow(value.count(), Factor::num, &nanos);
    nanos /= Factor::den;
    if (value.count() > 0 && (overflow || nanos > Limits::max())) return Duration::max();
    if (value.count() < 0 && (overflow || nanos < Limits::min())) return Duration::min();
    return Duration{static_cast<Duration::rep>(nanos)};
  }
}

// Returns `from + by`, or the end of time in the direction of `by`.
[[nodiscard]] constexpr TimePoint add_saturating(TimePoint from, Duration by) noexcept {
  Duration::rep sum{};
  if (__builtin_add_overflow(from.time_since_epoch().count(), by.count(), &sum)) {
    return by > Duration::zero() ? TimePoint::max() : TimePoint::min();
  }
  return TimePoint{Duration{sum}};
}

// Returns `to - from`, or the longest duration in that direction.
[[nodiscard]] constexpr Duration subtract_saturating(TimePoint to, TimePoint from) noexcept {
  Duration::rep difference{};
  if (__builtin_sub_overflow(to.time_since_epoch().count(), from.time_since_epoch().count(),
                             &difference)) {
    return to > from ? Duration::max() : Duration::min();
  }
  return Duration{difference};
}

}  // namespace holdfast::base
