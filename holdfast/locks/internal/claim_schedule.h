#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/saturate.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks::internal {

// Decides when an acquire claims again, and when it gives up: no I/O, no threads, no clock, and no
// knowledge of queues. The states of the acquire are in AcquireSteps.
//
//   event                        answer
//   on_claim                     — a claim is sent; at the deadline it is the last one
//   on_busy                      Sleep until a poll, the holder's expiry, or the deadline; further
//                                back in the store's queue, polls are rarer, and only the first
//                                looks at the expiry
//   on_failure, retryable        Sleep, as above; GiveUp if the store was never reached
//   on_failure, other            GiveUp with that code
//   on_busy after the last time  GiveUp with timed_out
//   on_late                      GiveUp with timed_out, or with the last failure
//   on_stop                      GiveUp with cancelled
//
// `jitter` is a random number from 0 to 1: without it the waiters of many machines would all come
// at once.
class ClaimSchedule {
 public:
  struct Sleep {
    base::TimePoint until;
  };
  struct GiveUp {
    base::ErrorCode code;
    // The reply to a claim was lost: the lease may be there, and has to be released by its id.
    bool may_hold;
  };
  using Answer = std::variant<Sleep, GiveUp>;

  struct Pace {
    base::Duration least;
    base::Duration most;
    bool push;  // hints come: polling is only for those that get lost
  };

  ClaimSchedule(base::Deadline deadline, Pace pace) noexcept
      : deadline_(deadline), pace_(pace), pause_(pace.push ? pace.most : pace.least) {}

  void on_claim(base::TimePoint now) noexcept { last_ = deadline_.expired(now); }

  // `position` is that in the store's queue: zero if the store did not say. Whoever is behind
  // others is not needed to find a dead holder, and the nearer to the front, the sooner it is.
  Answer on_busy(base::TimePoint now, base::Duration frees_in, double jitter,
                 std::uint32_t position = 0) noexcept {
    reached_ = true;
    unknown_ = false;  // a store that answers "busy" to this id holds nothing for it
    failure_.reset();
    const base::Duration pause =
        next_pause(jitter) * std::clamp(position, 1U, store::Busy::kMaxPosition);
    if (frees_in >= pause || position > 1) {
      return sleep(now, pause);
    }
    // A store that answers with a time in the past does not make the waiter spin.
    return sleep(now, std::min(pause, std::max(frees_in + kAfterExpiry, pace_.least / 2)));
  }

  Answer on_failure(base::TimePoint now, base::ErrorCode code, double jitter) noexcept {
    unknown_ |= code == base::ErrorCode::unknown_outcome;
    const bool retryable =
        unknown_ || (code == base::ErrorCode::unavailable && (reached_ || !failure_));
    failure_ = code;
    if (!retryable) {
      return give_up(code);
    }
    return sleep(now, next_pause(jitter));
  }

  // There is no time left, not even for the last claim.
  GiveUp on_late() const noexcept { return give_up(failure_.value_or(base::ErrorCode::timed_out)); }
  GiveUp on_stop() const noexcept { return give_up(base::ErrorCode::cancelled); }

 private:
  // So that the claim does not come a moment before the expiry it waits for.
  static constexpr base::Duration kAfterExpiry = std::chrono::milliseconds(1);

  Answer sleep(base::TimePoint now, base::Duration pause) noexcept {
    if (last_) {
      return give_up(failure_.value_or(base::ErrorCode::timed_out));
    }
    return Sleep{std::min(base::add_saturating(now, pause), deadline_.when())};
  }

  GiveUp give_up(base::ErrorCode code) const noexcept {
    return {.code = code, .may_hold = unknown_};
  }

  base::Duration next_pause(double jitter) noexcept {
    const base::Duration longest = pause_;
    pause_ = std::min(pause_ * 2, pace_.most);
    return std::chrono::duration_cast<base::Duration>(longest * (0.5 + jitter / 2));
  }

  const base::Deadline deadline_;
  const Pace pace_;
  base::Duration pause_;
  bool last_ = false;     // the claim under way is the last one
  bool reached_ = false;  // the store has answered
  bool unknown_ = false;  // a reply was lost since the last answer
  std::optional<base::ErrorCode> failure_;
};

}  // namespace holdfast::locks::internal
