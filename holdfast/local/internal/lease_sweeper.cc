#include <holdfast/local/internal/lease_sweeper.h>

#include <string>
#include <utility>

#include <holdfast/base/cadence.h>
#include <holdfast/base/duration_text.h>

namespace holdfast::local::internal {

LeaseSweeper::LeaseSweeper(LeaseShards& shards, LeaseTableOptions options)
    : shards_(shards), options_(std::move(options)) {
  if (options_.sweep_every > base::Duration::zero()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
}

SweepReport LeaseSweeper::sweep(const std::stop_token& stop) {
  SweepReport report;
  {
    const base::MutexLock lock(sweeping_);
    report = shards_.sweep(stop);
  }
  if (report.removed != 0 && options_.logger.enabled(base::LogLevel::debug)) {
    options_.logger.debug("the sweep removed " + std::to_string(report.removed) +
                          " expired leases and left " + std::to_string(report.left));
  }
  if (options_.on_sweep) {
    options_.on_sweep(report);
  }
  return report;
}

void LeaseSweeper::run(const std::stop_token& stop) {
  const base::Clock& clock = *options_.clock;
  base::TimePoint tick = base::add_saturating(clock.now(), options_.sweep_every);
  while (clock.sleep_until(tick, stop)) {
    const base::TimePoint began = clock.now();
    sweep(stop);
    background_sweeps_.fetch_add(1, std::memory_order_release);
    // The tick after the beginning: a sweep that outlasts it is followed by the next at once.
    tick = base::next_tick(tick, began, options_.sweep_every);
    if (const base::TimePoint now = clock.now(); now >= tick) {
      warn_of_slow_sweep(now - began);
    }
  }
}

void LeaseSweeper::warn_of_slow_sweep(base::Duration took) const {
  options_.logger.warn(
      "a sweep took " + base::short_duration(took) + ", longer than it may with one every " +
      base::short_duration(options_.sweep_every) + ": the next one starts at once");
}

}  // namespace holdfast::local::internal
