#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include <holdfast/local/key_stats.h>

namespace holdfast::local::internal {

// Statistics of waits. Thread-safe without a lock: each waiter counts its own.
class WaitCounters {
 public:
  void served(std::chrono::nanoseconds waited) noexcept {
    contended_.fetch_add(1, std::memory_order_relaxed);
    wait_ns_.fetch_add(waited.count(), std::memory_order_relaxed);
    auto longest = longest_ns_.load(std::memory_order_relaxed);
    while (longest < waited.count() &&
           !longest_ns_.compare_exchange_weak(longest, waited.count(), std::memory_order_relaxed)) {
    }
  }
  void timed_out() noexcept { timed_out_.fetch_add(1, std::memory_order_relaxed); }
  void cancelled() noexcept { cancelled_.fetch_add(1, std::memory_order_relaxed); }

  void add_to(KeyLockStats& stats) const noexcept {
    stats.contended += contended_.load(std::memory_order_relaxed);
    stats.timed_out += timed_out_.load(std::memory_order_relaxed);
    stats.cancelled += cancelled_.load(std::memory_order_relaxed);
    stats.wait_time += std::chrono::nanoseconds(wait_ns_.load(std::memory_order_relaxed));
    stats.longest_wait = std::max(
        stats.longest_wait, std::chrono::nanoseconds(longest_ns_.load(std::memory_order_relaxed)));
  }

 private:
  std::atomic<std::uint64_t> contended_{0};
  std::atomic<std::uint64_t> timed_out_{0};
  std::atomic<std::uint64_t> cancelled_{0};
  std::atomic<std::int64_t> wait_ns_{0};
  std::atomic<std::int64_t> longest_ns_{0};
};

}  // namespace holdfast::local::internal
