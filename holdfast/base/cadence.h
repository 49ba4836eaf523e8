#pragma once

#include <holdfast/base/clock.h>
#include <holdfast/base/saturate.h>

namespace holdfast::base {

// The tick that follows `tick` when the work of that one was done at `now`: always a whole number
// of periods later, so that the beat does not drift with the length of the work; ticks that passed
// meanwhile are left out. `every` is positive.
constexpr TimePoint next_tick(TimePoint tick, TimePoint now, Duration every) noexcept {
  const TimePoint next = add_saturating(tick, every);
  if (next > now) {
    return next;
  }
  const auto missed = (now - next) / every + 1;
  return add_saturating(next, missed * every);
}

}  // namespace holdfast::base
