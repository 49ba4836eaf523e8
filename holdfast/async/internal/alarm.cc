#include <holdfast/async/internal/alarm.h>

#include <system_error>

#include <holdfast/base/error.h>

namespace holdfast::async::internal {

Alarm::Alarm(const base::Clock& clock) : clock_(clock) {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    base::throw_error({base::ErrorCode::limit_exceeded, "there is no thread to tell the time with"});
  }
}

Alarm::~Alarm() {
  thread_.request_stop();
  bell_.ring();
}

void Alarm::set(Sleeper& sleeper, base::TimePoint when) {
  bool is_next = false;
  {
    const std::lock_guard guard(mutex_);
    sleeper.place_ = times_.emplace(when, &sleeper);
    is_next = *sleeper.place_ == times_.begin();
  }
  if (is_next) {
    bell_.ring();
  }
}

void Alarm::cancel(Sleeper& sleeper) {
  const std::lock_guard guard(mutex_);
  if (sleeper.place_) {
    times_.erase(*sleeper.place_);
    sleeper.place_.reset();
  }
}

void Alarm::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    base::TimePoint next = base::TimePoint::max();
    {
      const std::lock_guard guard(mutex_);
      const base::TimePoint now = clock_.now();
      while (!times_.empty() && times_.begin()->first <= now) {
        Sleeper& sleeper = *times_.begin()->second;
        times_.erase(times_.begin());
        sleeper.place_.reset();
        sleeper.on_time();
      }
      if (!times_.empty()) {
        next = times_.begin()->first;
      }
    }
    bell_.wait_until(clock_, next);
  }
}

}  // namespace holdfast::async::internal
