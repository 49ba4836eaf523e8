#pragma once

#include <algorithm>
#include <stop_token>

#include <tests/simulation/timeline.h>

#include <holdfast/base/clock.h>

namespace holdfast::simulation {

// A clock of one machine: the true time, by a crystal that runs a little too fast or too slow.
class DriftingClock final : public base::Clock {
 public:
  // `rate` is how many millionths it runs too fast. `start` is its reading at the beginning.
  DriftingClock(const Timeline& timeline, base::Duration start, int rate) noexcept
      : timeline_(timeline), offset_(start), rate_(rate) {}

  [[nodiscard]] base::TimePoint now() const noexcept override {
    return base::TimePoint(offset_ + scaled(timeline_.now().time_since_epoch(), rate_));
  }
  [[nodiscard]] base::TimePoint coarse_now() const noexcept override { return now(); }
  [[nodiscard]] base::Duration coarse_lag() const noexcept override { return {}; }
  // Nobody sleeps here: what waits is an event.
  bool sleep_until(base::TimePoint /*when*/, std::stop_token /*stop*/) const override {
    return false;
  }

  // Returns the first true time at which the clock shows `reading`.
  [[nodiscard]] base::TimePoint true_time(base::TimePoint reading) const noexcept {
    if (reading == base::TimePoint::max()) {
      return reading;
    }
    const base::Duration elapsed = reading.time_since_epoch() - offset_;
    // A little too early, and then ever less.
    base::TimePoint when(scaled(elapsed, -rate_));
    for (base::Duration missing = missing_at(when, reading); missing > base::Duration::zero();
         missing = missing_at(when, reading)) {
      when += std::max(scaled(missing, -rate_), base::Duration(1));
    }
    return when;
  }

  // Somebody sets it, or it stands still for a while.
  void move(base::Duration by) noexcept { offset_ += by; }

 private:
  static base::Duration scaled(base::Duration duration, int rate) noexcept {
    return duration + base::Duration(duration.count() / 1'000'000 * rate +
                                     duration.count() % 1'000'000 * rate / 1'000'000);
  }

  [[nodiscard]] base::Duration missing_at(base::TimePoint when,
                                          base::TimePoint reading) const noexcept {
    return reading.time_since_epoch() - offset_ - scaled(when.time_since_epoch(), rate_);
  }

  const Timeline& timeline_;
  base::Duration offset_;
  const int rate_;
};

}  // namespace holdfast::simulation
