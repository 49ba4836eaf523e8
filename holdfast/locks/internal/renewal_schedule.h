#pragma once

#include <algorithm>
#include <optional>

#include <holdfast/base/clock.h>
#include <holdfast/base/saturate.h>

namespace holdfast::locks::internal {

// The times at which a lease is renewed, and until which it is ours: no I/O, no threads, no clock.
// All times are of the holder's clock.
//
// They count from when a request was *sent*: the store starts the ttl later than that, so the lease
// is still there at `sent + ttl`. The margin allows for clocks that do not run equally fast.
class RenewalSchedule {
 public:
  // `time_left` is what the store says is left of the lease: a store that grants less than the ttl
  // is believed.
  RenewalSchedule(base::TimePoint sent, base::Duration ttl, base::Duration every,
                  std::optional<base::Duration> max_hold,
                  base::Duration time_left = base::Duration::max()) noexcept
      : ttl_(ttl),
        every_(every),
        renew_until_(max_hold ? base::add_saturating(sent, *max_hold) : base::TimePoint::max()) {
    const base::Duration lasts = std::min(ttl, time_left);
    valid_until_ = base::add_saturating(sent, lasts - margin(lasts));
    plan(base::add_saturating(sent, lasts < ttl ? std::min(every, lasts / 3) : every));
  }

  // A fiftieth, but at least a millisecond: crystals differ by far less.
  [[nodiscard]] static constexpr base::Duration margin(base::Duration lasts) noexcept {
    return std::max(lasts / 50, base::Duration(std::chrono::milliseconds(1)));
  }

  void on_renewed(base::TimePoint sent) noexcept {
    valid_until_ = std::max(valid_until_, base::add_saturating(sent, ttl_ - margin(ttl_)));
    plan(base::add_saturating(sent, every_));
  }

  // No answer, or the store is unavailable: sooner again, several times while there is time.
  void on_failed(base::TimePoint now) noexcept {
    plan(now + std::max((valid_until_ - now) / 4, base::Duration(std::chrono::milliseconds(5))));
  }

  [[nodiscard]] base::TimePoint valid_until() const noexcept { return valid_until_; }
  // TimePoint::max(): not again.
  [[nodiscard]] base::TimePoint renew_at() const noexcept { return renew_at_; }
  [[nodiscard]] base::Duration ttl() const noexcept { return ttl_; }

 private:
  void plan(base::TimePoint when) noexcept {
    renew_at_ = when < renew_until_ ? when : base::TimePoint::max();
  }

  base::Duration ttl_;
  base::Duration every_;
  base::TimePoint renew_until_;
  base::TimePoint valid_until_{};
  base::TimePoint renew_at_{};
};

}  // namespace holdfast::locks::internal
