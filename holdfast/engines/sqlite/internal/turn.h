#pragma once

#include <deque>

#include <holdfast/base/deadline.h>
#include <holdfast/base/mutex.h>

namespace holdfast::engines::sqlite::internal {

// Lets one thread in at a time, in the order of arrival, and none past its deadline.
//
// Thread-safe. Not a std::timed_mutex, which lets a newcomer pass callers that have waited long.
class Turn {
 public:
  // Blocks until it is the caller's turn (true) or until the deadline, of base::steady_clock().
  [[nodiscard]] bool enter(base::Deadline deadline);
  // Lets in who has waited longest.
  void leave();

 private:
  struct Waiter {
    base::ConditionVariable called;
    bool is_in = false;  // changed under mutex_
  };

  base::Mutex mutex_;
  bool taken_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::deque<Waiter*> in_line_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::engines::sqlite::internal
