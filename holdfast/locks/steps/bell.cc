#include <holdfast/locks/steps/bell.h>

#include <algorithm>

#include <holdfast/base/deadline.h>
#include <holdfast/base/saturate.h>

namespace holdfast::locks::steps {

namespace {

// How soon it is noticed that the clock has jumped ahead, as that of a machine that was suspended.
constexpr base::Duration kSlice = std::chrono::milliseconds(250);

}  // namespace

// From a listener's begin to its end: a ring goes to the listener meanwhile.
class Bell::Listening {
 public:
  Listening(Bell& bell, store::Listener& listener) : bell_(bell), listener_(listener) {
    const std::lock_guard guard(bell_.mutex_);
    bell_.listener_ = &listener_;
    bell_.sleeper_ = std::this_thread::get_id();
  }
  ~Listening() {
    {
      const std::lock_guard guard(bell_.mutex_);
      bell_.listener_ = nullptr;
    }
    listener_.end();
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Bell& bell_;
  store::Listener& listener_;
};

bool Bell::listen_until(store::Listener& listener, const base::Clock& clock, base::TimePoint when) {
  if (!is_rung() && listener.begin()) {
    const Listening listening(*this, listener);
    bool goes_on = true;
    for (auto now = clock.now(); goes_on && now < when && !is_rung(); now = clock.now()) {
      const base::Duration left = base::subtract_saturating(when, now);
      goes_on = listener.hear(base::Deadline::after(base::steady_clock(), std::min(left, kSlice)));
    }
  }
  // It was rung, or the time has come, or there is nothing to listen to: this knows which.
  return wait_until(clock, when);
}

}  // namespace holdfast::locks::steps
