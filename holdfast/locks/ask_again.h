#pragma once

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
template <class Call>
auto ask_again(base::Deadline deadline, Call&& call) -> decltype(call()) {
  constexpr int kTries = 3;
  auto outcome = call();
  for (int tried = 1; tried < kTries; ++tried) {
    if (outcome || outcome.error().code != base::ErrorCode::unknown_outcome ||
        deadline.expired(base::steady_clock().now())) {
      return outcome;
    }
    auto again = call();
    if (again || again.error().code != base::ErrorCode::unavailable) {
      outcome = std::move(again);
    }
  }
  return outcome;
}

}  // namespace holdfast::locks
