#include <holdfast/base/clock.h>

#include <condition_variable>
#include <mutex>

namespace holdfast::base {
namespace {

// Waits in slices, for two reasons: the kernel's wait does not count suspend, so a clock that does
// must be read again from time to time; and a wait until the end of time would overflow in the
// library.
bool sleep_in_slices(const Clock& clock, TimePoint when, const std::stop_token& stop,
                     Duration slice) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock{mutex};
  for (TimePoint now = clock.now(); now < when; now = clock.now()) {
    if (stop.stop_requested()) return false;
    const Duration wait = when > now + slice ? slice : when - now;
    stopped.wait_for(lock, stop, wait, [] { return false; });
  }
  return true;
}

class BootClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const noexcept override {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return TimePoint{std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec}};
  }
  [[nodiscard]] TimePoint coarse_now() const noexcept override { return now(); }
  [[nodiscard]] Duration coarse_lag() const noexcept override { return Duration::zero(); }
  bool sleep_until(TimePoint when, std::stop_token stop) const override {
    return sleep_in_slices(*this, when, stop, std::chrono::milliseconds{250});
  }
};

Duration measure_coarse_lag() noexcept {
  constexpr std::chrono::milliseconds kLateTick{50};
  timespec tick{};
  ::clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  return std::chrono::seconds{tick.tv_sec} + Duration{tick.tv_nsec} + kLateTick;
}

}  // namespace

SteadyClock::SteadyClock() noexcept : coarse_lag_{measure_coarse_lag()} {}

bool SteadyClock::sleep_until(TimePoint when, std::stop_token stop) const {
  return sleep_in_slices(*this, when, stop, std::chrono::hours{1});
}

const SteadyClock& steady_clock() noexcept {
  static const SteadyClock& clock = *new SteadyClock;
  return clock;
}

const Clock& boot_clock() noexcept {
  static const Clock& clock = *new BootClock;
  return clock;
}

}  // namespace holdfast::base
