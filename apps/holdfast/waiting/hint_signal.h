#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include <holdfast/base/clock.h>

namespace holdfast::cli {

// Lets one thread wait for the hints of a store, which arrive in any thread. A hint that arrives
// while nobody waits ends the next wait at once.
class HintSignal {
 public:
  void notify() {
    const std::lock_guard guard(mutex_);
    notified_ = true;
    changed_.notify_all();
  }

  // Blocks until a hint, until the stop, or for this long.
  void wait_for(base::Duration pause, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [this] { return notified_; });
    notified_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool notified_ = false;  // protected by mutex_
};

}  // namespace holdfast::cli
