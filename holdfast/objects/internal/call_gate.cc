#include <holdfast/objects/internal/call_gate.h>

#include <algorithm>
#include <chrono>

namespace holdfast::objects::internal {

bool CallGate::close(base::Deadline deadline) {
  closed_.store(true, std::memory_order_seq_cst);
  // The standard's wait cannot be as long as a deadline.
  constexpr base::Duration kLongest = std::chrono::hours(1);
  const base::MutexLock lock(mutex_);
  while (inside() != 0) {
    const base::Duration left = deadline.remaining(base::steady_clock().now());
    if (left == base::Duration::zero()) {
      return false;
    }
    left_.wait_for(mutex_, std::min(left, kLongest));
  }
  return true;
}

std::int64_t CallGate::inside() const noexcept {
  std::int64_t total = 0;
  for (const Padded& place : places_) {
    total += place.inside.load(std::memory_order_seq_cst);
  }
  return total;
}

std::uint32_t CallGate::thread_place() noexcept {
  static std::atomic<std::uint32_t> next{0};
  thread_local const std::uint32_t place = next.fetch_add(1, std::memory_order_relaxed);
  return place;
}

void CallGate::tell_closer() noexcept {
  const base::MutexLock lock(mutex_);
  left_.notify_all();
}

}  // namespace holdfast::objects::internal
