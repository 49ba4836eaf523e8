#pragma once

#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/locks/steps/ringer.h>
#include <holdfast/store/listener.h>

namespace holdfast::locks::steps {

// Wakes one sleeping thread. Rung while nobody sleeps, it ends the next sleep at once; rung several
// times, it counts once. Any thread rings, one waits.
class Bell final : public Ringer {
 public:
  void ring() noexcept override {
    const std::lock_guard guard(mutex_);
    rung_ = true;
    if (listener_ == nullptr) {
      asleep_.request_stop();
    } else if (sleeper_ != std::this_thread::get_id()) {
      listener_->rouse();
    }
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

  // The same, and listens meanwhile if nobody else does. What it hears may ring this very bell,
  // which costs nothing then. For clocks that go as base::steady_clock() does, or jump ahead.
  bool listen_until(store::Listener& listener, const base::Clock& clock, base::TimePoint when);

 private:
  class Listening;

  [[nodiscard]] bool is_rung() const {
    const std::lock_guard guard(mutex_);
    return rung_;
  }

  mutable std::mutex mutex_;
  bool rung_ = false;
  std::stop_source asleep_{std::nostopstate};  // made for each sleep: a stop is for ever
  store::Listener* listener_ = nullptr;        // while the sleeper listens
  std::thread::id sleeper_;                    // who listens
};

}  // namespace holdfast::locks::steps
