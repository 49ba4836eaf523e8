#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include <holdfast/base/clock.h>

namespace holdfast::cli {

// Rung by the hints of a store, from any thread; one waits. Rung while nobody waits, it ends the
// next wait at once.
class Doorbell {
 public:
  void ring() {
    const std::lock_guard guard(mutex_);
    rung_ = true;
    changed_.notify_all();
  }

  // Until rung, until a stop, or for so long.
  void wait_for(base::Duration pause, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [this] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool rung_ = false;  // protected by mutex_
};

}  // namespace holdfast::cli
