#pragma once

#include <optional>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>

namespace holdfast::locks {

// Every operation of a LeaseStore but `hit` may be repeated as it was, so a lost reply is first met
// by asking again: most often the connection is back. Few times, because this does not pause.
//
// Unless an answer comes, it stays unknown: a store that is unavailable by then may have done what
// was asked before.
template <class T>
class AskedAgain {
 public:
  explicit AskedAgain(base::Deadline deadline) noexcept : deadline_(deadline) {}

  // Takes the outcome of the last request. Returns whether to ask once more.
  [[nodiscard]] bool take(base::Result<T> outcome) {
    if (!outcome_ || outcome || outcome.error().code != base::ErrorCode::unavailable) {
      outcome_ = std::move(outcome);
    }
    return ++tried_ < kTries && !*outcome_ &&
           outcome_->error().code == base::ErrorCode::unknown_outcome &&
           !deadline_.expired(base::steady_clock().now());
  }

  // Once something was taken.
  [[nodiscard]] base::Result<T>& outcome() noexcept { return *outcome_; }
  [[nodiscard]] base::Deadline deadline() const noexcept { return deadline_; }

 private:
  static constexpr int kTries = 3;

  base::Deadline deadline_;
  std::optional<base::Result<T>> outcome_{};
  int tried_ = 0;
};

// The same for a call that blocks.
template <class Call>
auto ask_again(base::Deadline deadline, Call&& call) -> decltype(call()) {
  AskedAgain<typename decltype(call())::value_type> asked(deadline);
  while (asked.take(call())) {
  }
  return std::move(asked.outcome());
}

}  // namespace holdfast::locks
