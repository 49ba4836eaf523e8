#pragma once

#include <algorithm>
#include <optional>

#include <holdfast/base/clock.h>
#include <holdfast/base/saturate.h>

namespace holdfast::locks::internal {

// When a lease is to be renewed, and until when it is ours: no I/O, no threads, no clock. All times
// are of the holder's clock.
//
// What counts is when a request was *sent*: the store starts the ttl later than that, so the lease
// is still there at `sent + ttl`. The margin allows for clocks that do not run equally fast.
class RenewalSchedule {
 public:
  // `validity` is what the store says is left of the lease: less than the ttl where the grant was
  // given to an earlier request of the same id, or for a short time to begin with.
  RenewalSchedule(base::TimePoint sent, base::Duration ttl, base::Duration every,
                  std::optional<base::Duration> max_hold,
                  base::Duration validity = base::Duration::max()) noexcept
      : ttl_(ttl),
        every_(every),
        renew_until_(max_hold ? base::add_saturating(sent, *max_hold) : base::TimePoint::max()) {
    on_renewed(sent);
    if (validity < ttl) {
      is_whole_ = false;
      valid_until_ = base::add_saturating(sent, validity - margin(validity));
      plan(base::add_saturating(sent, std::min(every, validity / 8)));
    }
  }

  // A fiftieth, but at least a millisecond: crystals differ by far less.
  [[nodiscard]] static constexpr base::Duration margin(base::Duration lasts) noexcept {
    return std::max(lasts / 50, base::Duration(std::chrono::milliseconds(1)));
  }

  void on_renewed(base::TimePoint sent) noexcept {
    is_whole_ = true;
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
  // Whether it had its whole ttl, from some request on.
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

 private:
  // However soon max_hold is over, it is to last for its ttl.
  void plan(base::TimePoint when) noexcept {
    renew_at_ = when < renew_until_ || !is_whole_ ? when : base::TimePoint::max();
  }

  base::Duration ttl_;
  base::Duration every_;
  base::TimePoint renew_until_;
  base::TimePoint valid_until_{};
  base::TimePoint renew_at_{};
  bool is_whole_ = true;
};

}  // namespace holdfast::locks::internal
