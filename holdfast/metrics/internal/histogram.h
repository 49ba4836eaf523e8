#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace holdfast::metrics::internal {

// Counts of durations below each of some bounds. Thread-safe and lock-free; a snapshot may lack a
// sample that is being added.
class Histogram {
 public:
  // The upper bounds of all buckets but the last, which has none.
  static constexpr std::array<std::chrono::nanoseconds, 13> kBounds = {
      std::chrono::microseconds(100), std::chrono::microseconds(500), std::chrono::milliseconds(1),
      std::chrono::milliseconds(5),   std::chrono::milliseconds(10),  std::chrono::milliseconds(50),
      std::chrono::milliseconds(100), std::chrono::milliseconds(500), std::chrono::seconds(1),
      std::chrono::seconds(5),        std::chrono::seconds(30),       std::chrono::minutes(2),
      std::chrono::minutes(10)};

  void add(std::chrono::nanoseconds value) noexcept {
    const auto sample = std::max(value, std::chrono::nanoseconds::zero());
    const auto bound = std::ranges::find_if(kBounds, [=](auto most) { return sample <= most; });
    counts_[static_cast<std::size_t>(bound - kBounds.begin())].fetch_add(1, kRelaxed);
    sum_.fetch_add(static_cast<std::uint64_t>(sample.count()), kRelaxed);
  }

  // Returns the samples in one bucket alone.
  [[nodiscard]] std::uint64_t count(std::size_t bucket) const noexcept {
    return counts_[bucket].load(kRelaxed);
  }
  [[nodiscard]] std::chrono::duration<double> sum() const noexcept {
    return std::chrono::duration<double, std::nano>(static_cast<double>(sum_.load(kRelaxed)));
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> sum_ = 0;  // ns
};

}  // namespace holdfast::metrics::internal
