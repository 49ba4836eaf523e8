#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include <holdfast/base/clock.h>
#include <holdfast/local/internal/lease_shards.h>

namespace holdfast::local::internal {

// Sweeps a table, now and then in the background. Two sweeps never run at once. Thread-safe.
class LeaseSweeper {
 public:
  // `every` of zero: only on demand.
  LeaseSweeper(LeaseShards& shards, const base::Clock& clock, base::Duration every);

  SweepReport sweep(const std::stop_token& stop);
  [[nodiscard]] std::uint64_t background_sweeps() const noexcept {
    return background_sweeps_.load(std::memory_order_acquire);
  }

 private:
  void run(const std::stop_token& stop, const base::Clock& clock, base::Duration every);

  LeaseShards& shards_;
  std::mutex sweeping_;
  std::atomic<std::uint64_t> background_sweeps_{0};
  std::jthread thread_;  // last: stopped before the rest is gone
};

}  // namespace holdfast::local::internal
