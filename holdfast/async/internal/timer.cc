#include <holdfast/async/internal/timer.h>

#include <system_error>

#include <holdfast/base/error.h>

namespace holdfast::async::internal {

Timer::Timer(const base::Clock& clock) : clock_(clock) {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    base::throw_error(
        {base::ErrorCode::limit_exceeded, "there is no thread to tell the time with"});
  }
}

Timer::~Timer() {
  thread_.request_stop();
  waker_.wake();
}

void Timer::set(Sleeper& sleeper, base::TimePoint when) {
  bool is_next = false;
  {
    const base::MutexLock lock(mutex_);
    sleeper.place_ = times_.emplace(when, &sleeper);
    is_next = *sleeper.place_ == times_.begin();
  }
  if (is_next) {
    waker_.wake();
  }
}

void Timer::cancel(Sleeper& sleeper) {
  const base::MutexLock lock(mutex_);
  if (sleeper.place_) {
    times_.erase(*sleeper.place_);
    sleeper.place_.reset();
  }
}

void Timer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const base::TimePoint next = wake_some(clock_.now());
    if (next > clock_.now()) {
      waker_.wait_until(clock_, next);
    }
  }
}

base::TimePoint Timer::wake_some(base::TimePoint now) {
  const base::MutexLock lock(mutex_);
  for (std::size_t i = 0; i < kMostAtOnce && !times_.empty() && times_.begin()->first <= now; ++i) {
    Sleeper& sleeper = *times_.begin()->second;
    times_.erase(times_.begin());
    sleeper.place_.reset();
    sleeper.on_time();
  }
  return times_.empty() ? base::TimePoint::max() : times_.begin()->first;
}

}  // namespace holdfast::async::internal
