#include <holdfast/local/internal/lease_sweeper.h>

#include <holdfast/base/cadence.h>

namespace holdfast::local::internal {

LeaseSweeper::LeaseSweeper(LeaseShards& shards, const base::Clock& clock, base::Duration every)
    : shards_(shards) {
  if (every > base::Duration::zero()) {
    thread_ = std::jthread(
        [this, &clock, every](const std::stop_token& stop) { run(stop, clock, every); });
  }
}

SweepReport LeaseSweeper::sweep(const std::stop_token& stop) {
  const std::lock_guard guard(sweeping_);
  return shards_.sweep(stop);
}

void LeaseSweeper::run(const std::stop_token& stop, const base::Clock& clock,
                       base::Duration every) {
  base::TimePoint tick = base::add_saturating(clock.now(), every);
  while (clock.sleep_until(tick, stop)) {
    sweep(stop);
    background_sweeps_.fetch_add(1, std::memory_order_release);
    tick = base::next_tick(tick, clock.now(), every);
  }
}

}  // namespace holdfast::local::internal
