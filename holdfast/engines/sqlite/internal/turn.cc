#include <holdfast/engines/sqlite/internal/turn.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>

namespace holdfast::engines::sqlite::internal {

bool Turn::enter(base::Deadline deadline) {
  const base::MutexLock lock(mutex_);
  if (!taken_) {
    taken_ = true;
    return true;
  }
  Waiter waiter;
  in_line_.push_back(&waiter);
  // Both clocks are CLOCK_MONOTONIC.
  const std::chrono::steady_clock::time_point until(deadline.when().time_since_epoch());
  while (!waiter.is_in) {
    if (waiter.called.wait_until(mutex_, until) == std::cv_status::timeout && !waiter.is_in) {
      in_line_.erase(std::ranges::find(in_line_, &waiter));
      return false;
    }
  }
  return true;
}

void Turn::leave() {
  const base::MutexLock lock(mutex_);
  if (in_line_.empty()) {
    taken_ = false;
    return;
  }
  Waiter* const next = in_line_.front();
  in_line_.pop_front();
  next->is_in = true;
  // Under the mutex: the waiter is gone as soon as it can see that it is in.
  next->called.notify_one();
}

}  // namespace holdfast::engines::sqlite::internal
