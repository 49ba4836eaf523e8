#pragma once

#include <stop_token>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/base/mutex.h>

namespace holdfast::locks::steps {

// Wakes one procedure that waits: something may have changed. A wake-up that comes while it does
// not wait ends its next wait at once; several count as one.
//
// Any thread may call `wake`, also under a mutex: it is quick and calls nothing back.
class Waker {
 public:
  Waker() = default;
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  virtual void wake() noexcept = 0;

 protected:
  ~Waker() = default;
};

// The waker of a thread, which blocks in `wait_until`.
class ThreadWaker final : public Waker {
 public:
  void wake() noexcept override {
    const base::MutexLock lock(mutex_);
    is_woken_ = true;
    sleep_.request_stop();
  }

  // Blocks until woken, and returns true, or until the time has come, and returns false.
  bool wait_until(const base::Clock& clock, base::TimePoint when) {
    std::stop_token woken;
    {
      const base::MutexLock lock(mutex_);
      if (is_woken_) {
        is_woken_ = false;
        return true;
      }
      sleep_ = std::stop_source();
      woken = sleep_.get_token();
    }
    clock.sleep_until(when, woken);
    const base::MutexLock lock(mutex_);
    return std::exchange(is_woken_, false);
  }

 private:
  base::Mutex mutex_;
  bool is_woken_ HOLDFAST_GUARDED_BY(mutex_) = false;
  // Made for each sleep: a stop source cannot be reset.
  std::stop_source sleep_ HOLDFAST_GUARDED_BY(mutex_){std::nostopstate};
};

}  // namespace holdfast::locks::steps
