#pragma once

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/saturate.h>

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

  // Blocks until woken, and returns true, or until the time has come, and returns false. After the
  // machine was suspended, that may be late by `slack`.
  bool wait_until(const base::Clock& clock, base::TimePoint when, base::Duration slack = {}) {
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
    if (slack > kOfBootClock && &clock == &base::boot_clock()) {
      doze(when, slack, woken);
    } else {
      clock.sleep_until(when, woken);
    }
    const base::MutexLock lock(mutex_);
    return std::exchange(is_woken_, false);
  }

 private:
  // The boot clock's own sleep looks at the clock four times a second, because the kernel's does
  // not count suspend: much for thousands of waiters.
  static constexpr base::Duration kOfBootClock = std::chrono::milliseconds(250);

  // Sleeps by the boot clock, and looks at it only every `slack`.
  static void doze(base::TimePoint when, base::Duration slack, const std::stop_token& woken) {
    for (base::TimePoint now = base::boot_clock().now(); now < when && !woken.stop_requested();
         now = base::boot_clock().now()) {
      const base::TimePoint look =
          base::add_saturating(base::steady_clock().now(), std::min(slack, when - now));
      base::steady_clock().sleep_until(look, woken);
    }
  }

  base::Mutex mutex_;
  bool is_woken_ HOLDFAST_GUARDED_BY(mutex_) = false;
  // Made for each sleep: a stop source cannot be reset.
  std::stop_source sleep_ HOLDFAST_GUARDED_BY(mutex_){std::nostopstate};
};

}  // namespace holdfast::locks::steps
