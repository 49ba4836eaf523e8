#pragma once

#include <mutex>
#include <stop_token>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/locks/steps/ringer.h>

namespace holdfast::locks::steps {

// Wakes one sleeping thread. Rung while nobody sleeps, it ends the next sleep at once; rung several
// times, it counts once. Any thread rings, one waits.
class Bell final : public Ringer {
 public:
  void ring() noexcept override {
    const std::lock_guard guard(mutex_);
    rung_ = true;
    asleep_.request_stop();
  }

  // Sleeps until rung (true) or until the time has come (false).
  bool wait_until(const base::Clock& clock, base::TimePoint when) {
    std::stop_token woken;
    {
      const std::lock_guard guard(mutex_);
      if (rung_) {
        rung_ = false;
        return true;
      }
      asleep_ = std::stop_source();
      woken = asleep_.get_token();
    }
    clock.sleep_until(when, woken);
    const std::lock_guard guard(mutex_);
    return std::exchange(rung_, false);
  }

 private:
  std::mutex mutex_;
  bool rung_ = false;
  std::stop_source asleep_{std::nostopstate};  // made for each sleep: a stop is for ever
};

}  // namespace holdfast::locks::steps
