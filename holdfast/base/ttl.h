#pragma once

#include <chrono>
#include <optional>
#include <type_traits>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/saturate.h>

namespace holdfast::base {

// The time that a lease lasts from its grant or renewal: a positive, finite duration.
//
// A value type. Converts implicitly from every std::chrono::duration, so that `30s` and `1.5min`
// read well at the call. The conversion never overflows and never fails; checked() and
// expiry_after() validate the value, once, where the call is validated.
//
//   void claim(Ttl ttl);   claim(30s);   claim(500ms);
class Ttl {
 public:
  template <class Rep, class Period>
    requires std::is_arithmetic_v<Rep>
  constexpr explicit(false) Ttl(std::chrono::duration<Rep, Period> value) noexcept
      : value_{to_duration(value)} {}

  // Returns false for zero, negative and NaN, and for more than nanoseconds can count (about 292
  // years).
  [[nodiscard]] constexpr bool valid() const noexcept {
    return value_ > Duration::zero() && value_ < Duration::max();
  }

  // Returns the value as converted, valid or not.
  [[nodiscard]] constexpr Duration unchecked() const noexcept { return value_; }

  // Returns the value, or invalid_argument with a message that says what to pass instead.
  [[nodiscard]] Result<Duration> checked() const {
    if (!valid()) [[unlikely]]
      return std::unexpected{error()};
    return value_;
  }

  // Returns why valid() is false.
  [[nodiscard, gnu::cold]] Error error() const;

  friend constexpr auto operator<=>(Ttl, Ttl) noexcept = default;

 private:
  Duration value_;
};

// Returns `now + ttl`, or nullopt if the ttl is not valid or the sum lies beyond the end of time.
// For hot paths: builds no Error; expiry_error() then has the reason.
[[nodiscard]] constexpr std::optional<TimePoint> try_expiry_after(TimePoint now, Ttl ttl) noexcept {
  Duration::rep sum{};
  if (!ttl.valid() || __builtin_add_overflow(now.time_since_epoch().count(),
                                             ttl.unchecked().count(), &sum)) [[unlikely]] {
    return std::nullopt;
  }
  return TimePoint{Duration{sum}};
}

// Returns why try_expiry_after() returned nullopt for this ttl.
[[nodiscard, gnu::cold]] Error expiry_error(Ttl ttl);

// Returns `now + ttl`, or invalid_argument.
[[nodiscard]] inline Result<TimePoint> expiry_after(TimePoint now, Ttl ttl) {
  const std::optional<TimePoint> expiry = try_expiry_after(now, ttl);
  if (!expiry) [[unlikely]]
    return std::unexpected{expiry_error(ttl)};
  return *expiry;
}

}  // namespace holdfast::base
