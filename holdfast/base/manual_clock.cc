#include <holdfast/base/manual_clock.h>

#include <iterator>
#include <utility>

#include <holdfast/base/saturate.h>

namespace holdfast::base {

ManualClock::ManualClock(TimePoint start) noexcept : now_{start.time_since_epoch().count()} {}

TimePoint ManualClock::now() const noexcept {
  return TimePoint{Duration{now_.load(std::memory_order_acquire)}};
}

bool ManualClock::sleep_until(TimePoint when, std::stop_token stop) const {
  std::unique_lock lock{mutex_};
  const auto entry = wake_times_.insert(when);
  arrived_.notify_all();
  const bool reached = moved_.wait(lock, std::move(stop), [&] { return now() >= when; });
  wake_times_.erase(entry);
  return reached;
}

void ManualClock::advance(Duration by) {
  const std::lock_guard lock{mutex_};
  move_to(add_saturating(now(), by));
}

void ManualClock::set(TimePoint to) {
  const std::lock_guard lock{mutex_};
  move_to(to);
}

void ManualClock::move_to(TimePoint to) {
  if (to <= now()) return;
  now_.store(to.time_since_epoch().count(), std::memory_order_release);
  moved_.notify_all();
}

std::size_t ManualClock::count_sleepers() const {
  return static_cast<std::size_t>(std::distance(wake_times_.upper_bound(now()), wake_times_.end()));
}

std::size_t ManualClock::sleepers() const {
  const std::lock_guard lock{mutex_};
  return count_sleepers();
}

void ManualClock::wait_for_sleepers(std::size_t count) const {
  std::unique_lock lock{mutex_};
  arrived_.wait(lock, [&] { return count_sleepers() >= count; });
}

}  // namespace holdfast::base
