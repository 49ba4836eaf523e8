#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/local/measure.h"
#include "bench/postgresql/workloads.h"

namespace holdfast::bench_postgresql {

namespace {

constexpr std::size_t kWaiters = 32;

// Fencing tokens order the grants of all stores.
struct Grant {
  std::uint64_t token;
  std::size_t waiter;
};

Report crowd(const Context& context, std::size_t stores, const char* about) {
  std::vector<std::unique_ptr<locks::LockProvider>> providers;
  for (std::size_t i = 0; i < stores; ++i) {
    providers.push_back(std::make_unique<locks::LockProvider>(
        base::value_or_throw(engines::open_store(context.url))));
  }
  std::mutex mutex;
  std::vector<Grant> all;
  const bench::Timing timing = bench::run_threads(
      kWaiters, context.seconds, [&](std::size_t thread, const std::atomic<bool>& stop) {
        std::vector<Grant> mine;
        while (!stop.load(std::memory_order_relaxed)) {
          auto lock = providers[thread % stores]->acquire("crowd");
          mine.push_back({.token = lock.token().value(), .waiter = thread});
          base::value_or_throw(lock.release());
        }
        const std::lock_guard guard(mutex);
        all.insert(all.end(), mine.begin(), mine.end());
        return mine.size();
      });
  std::ranges::sort(all, {}, &Grant::token);
  double switches = 0;
  std::vector<double> counts(kWaiters);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ++counts[all[i].waiter];
    switches += i > 0 && all[i].waiter != all[i - 1].waiter ? 1 : 0;
  }
  switches /= timing.wall.count();
  const double unfair = std::ranges::max(counts) / std::max(std::ranges::min(counts), 1.0);
  return {
      .workload = "M3",
      .about = about,
      .rows = {{"holdfast", timing.per_second(), "grants/s"},
               {"holdfast", switches, "switches/s"},
               {"holdfast, most / least", unfair, "grants"}},
      .targets = {{fmt::format("at least 2,000 switches/s ({:.0f})", switches), switches >= 2000},
                  {"most / least at most 1.5", unfair <= 1.5}}};
}

}  // namespace

Report crowd_at_one_store(const Context& context) {
  return crowd(context, 1, "32 waiters for one name, at one store");
}

Report crowd_at_two_stores(const Context& context) {
  return crowd(context, 2, "32 waiters for one name, at two stores");
}

}  // namespace holdfast::bench_postgresql
