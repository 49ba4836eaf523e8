#pragma once

#include <chrono>
#include <optional>
#include <type_traits>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/saturate.h>

namespace holdfast::base {

// How long a lease lasts from its grant or renewal: a positive, finite duration.
//
// A value type. Converts implicitly from every std::chrono::duration, so that `30s` and `1.5min`
// read well at the call. The conversion never overflows and never fails; whether the value can be
// used is asked of checked() or expiry_after(), once, where the call is validated.
//
//   void claim(Ttl ttl);   claim(30s);   claim(500ms);
class Ttl {
 public:
  template <class Rep, class Period>
    requires std::is_arithmetic_v<Rep>
  constexpr explicit(false) Ttl(std::chrono::duration<Rep, Period> value) noexcept
      : value_{to_duration(value)} {}

  // False for zero, negative and NaN, and for what nanoseconds cannot count (about 292 years).
  [[nodiscard]] constexpr bool valid() const noexcept {
    return value_ > Duration::zero() && value_ < Duration::max();
  }

  // The value as converted, valid or not.
  [[nodiscard]] constexpr Duration unchecked() const noexcept { return value_; }

  // The value, or invalid_argument with a message that says what to pass instead.
  [[nodiscard]] Result<Duration> checked() const {
    if (!valid()) [[unlikely]]
      return std::unexpected{error()};
    return value_;
  }

  // Why valid() is false.
  [[nodiscard, gnu::cold]] Error error() const;

  friend constexpr auto operator<=>(Ttl, Ttl) noexcept = default;

 private:
  Duration value_;
};

// `now + ttl`, or nothing where the ttl is not valid or the sum lies beyond the end of time.
// For hot paths: builds no Error. expiry_error() then says why.
[[nodiscard]] constexpr std::optional<TimePoint> try_expiry_after(TimePoint now, Ttl ttl) noexcept {
  Duration::rep sum{};
  if (!ttl.valid() || __builtin_add_overflow(now.time_since_epoch().count(),
                                             ttl.unchecked().count(), &sum)) [[unlikely]] {
    return std::nullopt;
  }
  return TimePoint{Duration{sum}};
}

// Why try_expiry_after() gave nothing for this ttl.
[[nodiscard, gnu::cold]] Error expiry_error(Ttl ttl);

// `now + ttl`, or invalid_argument.
[[nodiscard]] inline Result<TimePoint> expiry_after(TimePoint now, Ttl ttl) {
  const std::optional<TimePoint> expiry = try_expiry_after(now, ttl);
  if (!expiry) [[unlikely]]
    return std::unexpected{expiry_error(ttl)};
  return *expiry;
}

}  // namespace holdfast::base
