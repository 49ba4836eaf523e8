#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <holdfast/base/clock.h>
#include <holdfast/base/saturate.h>

namespace holdfast::cli {

// Decides when a command whose lock is about to be lost gets TERM, and when it gets KILL: no I/O,
// no threads, no clock.
//
//   while                                  then
//   time left > the notice and reserve     nothing
//   time left <= the notice and reserve    terminate; kill when the reserve is left, or after
//                                          `kill_after`
//   no time left, all at once              terminate; kill after `kill_after`
//
// The reserve is a twentieth of the ttl: a machine that is busy takes a while to send KILL, and to
// end what got it. The notice is `kill_after`, but never more than a quarter of the ttl: renewals
// come when half of it is left or more, so only a lease that nobody renews comes so far. The lease
// of such a one is still there while the command ends. A lease that is gone all at once (stolen; or
// this process was stopped) leaves nothing to protect, and the command gets its time to clean up.
class LossPlan {
 public:
  enum class Action : std::uint8_t { none, terminate, kill };

  LossPlan(base::Duration ttl, base::Duration kill_after) noexcept
      : kill_after_(kill_after), reserve_(ttl / 20), notice_(std::min(kill_after, ttl / 4)) {}

  // The action that is due now; each but `none` comes once. `time_left` of zero: lost.
  Action at(base::TimePoint now, base::Duration time_left) noexcept {
    if (!kill_at_ && time_left - reserve_ <= notice_) {
      const bool sudden = time_left <= base::Duration::zero();
      kill_at_ = base::add_saturating(
          now, sudden ? kill_after_ : std::min(kill_after_, usable(time_left)));
      return Action::terminate;
    }
    if (kill_at_ && !killed_ && now >= *kill_at_) {
      killed_ = true;
      return Action::kill;
    }
    return Action::none;
  }

  // When to ask again at the latest.
  [[nodiscard]] base::TimePoint next(base::TimePoint now, base::Duration time_left) const noexcept {
    if (kill_at_) {
      return killed_ ? base::TimePoint::max() : *kill_at_;
    }
    // In time to see a renewal before others think that there was none.
    return base::add_saturating(now, std::min(usable(time_left) - notice_, time_left / 2));
  }

  // When the command must have ended, if nothing changes.
  [[nodiscard]] base::TimePoint kill_at(base::TimePoint now,
                                        base::Duration time_left) const noexcept {
    return kill_at_ ? *kill_at_ : base::add_saturating(now, usable(time_left));
  }

  // When a process that looks after this one has to send the TERM that is overdue.
  [[nodiscard]] base::TimePoint overdue(base::TimePoint now,
                                        base::Duration time_left) const noexcept {
    return kill_at_ ? base::TimePoint::max()
                    : base::add_saturating(now, usable(time_left) - (notice_ / 2));
  }

  [[nodiscard]] bool ending() const noexcept { return kill_at_.has_value(); }

 private:
  // Returns the time that is left until KILL.
  [[nodiscard]] base::Duration usable(base::Duration time_left) const noexcept {
    return std::max(time_left - reserve_, base::Duration::zero());
  }

  base::Duration kill_after_;
  base::Duration reserve_;
  base::Duration notice_;
  std::optional<base::TimePoint> kill_at_;
  bool killed_ = false;
};

}  // namespace holdfast::cli
