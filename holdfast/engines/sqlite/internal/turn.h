#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include <holdfast/base/deadline.h>

namespace holdfast::engines::sqlite::internal {

// Lets one thread in at a time, in the order of arrival, and none past its deadline.
//
// Thread-safe. Not a std::timed_mutex, which lets a newcomer overtake those who have waited long.
class Turn {
 public:
  // Blocks until it is the caller's turn (true) or until the deadline, of base::steady_clock().
  [[nodiscard]] bool enter(base::Deadline deadline);
  // Lets in who has waited longest.
  void leave();

 private:
  struct Waiter {
    std::condition_variable called;
    bool is_in = false;
  };

  std::mutex mutex_;
  bool taken_ = false;           // protected by mutex_
  std::deque<Waiter*> in_line_;  // protected by mutex_
};

}  // namespace holdfast::engines::sqlite::internal
