#pragma once

#include <holdfast/base/clock.h>
#include <holdfast/base/saturate.h>

namespace holdfast::local::internal {

// Returns the tick after `tick`, given that the work of `tick` was done at `now`: always a whole
// number of periods later, so that the cadence does not drift with the length of the work. Skips
// ticks that have passed meanwhile. `every` is positive.
constexpr base::TimePoint next_tick(base::TimePoint tick, base::TimePoint now,
                                    base::Duration every) noexcept {
  const base::TimePoint next = base::add_saturating(tick, every);
  if (next > now) {
    return next;
  }
  const auto missed = (now - next) / every + 1;
  return base::add_saturating(next, missed * every);
}

}  // namespace holdfast::local::internal
