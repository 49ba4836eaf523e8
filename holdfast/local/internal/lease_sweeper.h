#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <holdfast/base/clock.h>
#include <holdfast/base/mutex.h>
#include <holdfast/local/internal/lease_shards.h>
#include <holdfast/local/lease_table.h>

namespace holdfast::local::internal {

// The sweeps of a table, on demand and in the background. Two sweeps never run at the same time.
// Thread-safe.
class LeaseSweeper {
 public:
  LeaseSweeper(LeaseShards& shards, LeaseTableOptions options);

  SweepReport sweep(const std::stop_token& stop);
  [[nodiscard]] std::uint64_t background_sweeps() const noexcept {
    return background_sweeps_.load(std::memory_order_acquire);
  }

 private:
  void run(const std::stop_token& stop);
  void warn_of_slow_sweep(base::Duration took) const;

  LeaseShards& shards_;
  const LeaseTableOptions options_;
  base::Mutex sweeping_;  // one sweep at a time
  std::atomic<std::uint64_t> background_sweeps_{0};
  std::jthread thread_;  // last: stopped before the other members are destroyed
};

}  // namespace holdfast::local::internal
