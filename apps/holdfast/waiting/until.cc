#include <algorithm>

#include <holdfast/base/saturate.h>

#include "apps/holdfast/cli/session.h"
#include "apps/holdfast/waiting/hint_signal.h"
#include "apps/holdfast/waiting/until.h"

namespace holdfast::cli {

namespace {

using std::chrono::milliseconds;

// Until the earliest lease has run out, so that the next look does not come a moment too early.
base::Duration until_expiry(const std::optional<store::NameState>& state) {
  base::Duration soonest = base::Duration::max() - milliseconds(1);
  if (state) {
    for (const store::Holder& holder : state->holders) {
      soonest = std::min(soonest, holder.time_left);
    }
  }
  return soonest + milliseconds(1);
}

constexpr base::Duration kLeastPause = milliseconds(5);

}  // namespace

bool may_come_back(const base::Error& error) noexcept {
  return error.code == base::ErrorCode::unavailable ||
         error.code == base::ErrorCode::unknown_outcome;
}

base::Duration pause_before_look(base::Duration pause, const std::optional<store::NameState>& state,
                                 base::Duration until_deadline) {
  return std::min(std::max(std::min(pause, until_expiry(state)), kLeastPause), until_deadline);
}

base::Result<bool> until(store::LeaseStore& store, std::string_view name,
                         const StatePredicate& wanted, base::Deadline deadline,
                         const std::stop_token& stop) {
  HintSignal hints_heard;
  // A store that cannot watch is asked more often.
  const auto watch = store.watch(name, [&](const auto&) { hints_heard.notify(); });
  const base::Duration most =
      store.capabilities().push && watch ? milliseconds(800) : milliseconds(100);
  base::Duration pause = milliseconds(10);
  for (bool answered = false;;) {
    const bool last = deadline.expired(base::boot_clock().now());
    const auto state = store.look(name, answer_deadline());
    if (state && wanted(*state)) {
      return true;
    }
    if (stop.stop_requested()) {
      return base::fail(base::ErrorCode::cancelled, "the wait was cancelled");
    }
    if (!state && (last || !answered || !may_come_back(state.error()))) {
      return std::unexpected(state.error());
    }
    if (last) {
      return false;
    }
    answered = true;
    hints_heard.wait_for(pause_before_look(pause, state ? *state : std::nullopt,
                                           deadline.remaining(base::boot_clock().now())),
                         stop);
    pause = std::min(pause * 2, most);
  }
}

}  // namespace holdfast::cli
