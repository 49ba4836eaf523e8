#pragma once

#include <algorithm>
#include <cstdint>

#include <holdfast/base/clock.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks::internal {

// The pause of a waiter before it claims again by itself: no I/O, no threads, no clock. It grows
// from claim to claim up to `most`. Where the store sends hints, polling only makes up for lost
// ones, so that every pause is as long as `most`.
//
// `jitter` is a random number from 0 to 1, and takes off up to half of a pause: otherwise the
// waiters of many machines would all claim at once.
class PollPause {
 public:
  PollPause(base::Duration least, base::Duration most, bool push) noexcept
      : least_(least), most_(most), next_(push ? most : least) {}

  // Returns the pause after a failure.
  base::Duration after_failure(double jitter) noexcept {
    const base::Duration longest = next_;
    next_ = std::min(next_ * 2, most_);
    return std::chrono::duration_cast<base::Duration>(longest * (0.5 + jitter / 2));
  }

  // Returns the pause after the answer that the name is busy: it ends right after the holder's
  // lease, if that comes first. `position` is that in the store's queue, zero if the store did not
  // say: the further back, the longer the pause, up to kLongest. A waiter that has moved up since
  // then, or that has only dead waiters before it, is still awake when the holder's lease ends.
  base::Duration after_busy(base::Duration frees_in, double jitter,
                            std::uint32_t position = 0) noexcept {
    const base::Duration pause =
        std::min(after_failure(jitter) * std::clamp(position, 1U, store::Busy::kMaxPosition),
                 std::max(most_, kLongest));
    if (frees_in >= pause) {
      return pause;
    }
    // A store that answers with a time in the past does not make the waiter spin.
    return std::min(pause, std::max(frees_in + kAfterExpiry, least_ / 2));
  }

 private:
  // So that the claim does not come a moment before the expiry that it waits for.
  static constexpr base::Duration kAfterExpiry = std::chrono::milliseconds(1);
  // A store may forget a waiter that is silent for longer than twice this time.
  static constexpr base::Duration kLongest = std::chrono::seconds(16);

  const base::Duration least_;
  const base::Duration most_;
  base::Duration next_;
};

}  // namespace holdfast::locks::internal
