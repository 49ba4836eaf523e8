#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/redis/workloads.h"

namespace holdfast::bench_redis {

Report held_leases(const Context& context) {
  const std::size_t count = context.settings.leases;
  locks::LockProvider provider(base::value_or_throw(engines::open_store(context.server.url())));
  std::vector<locks::Lock> held;
  held.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    held.push_back(provider.acquire(fmt::format("held:{}", i), {.ttl = std::chrono::seconds(10)}));
  }
  const auto begin = std::chrono::steady_clock::now();
  const Seconds before = bench_locks::cpu_time();
  std::this_thread::sleep_for(context.settings.seconds);
  const Seconds cpu = bench_locks::cpu_time() - before;
  const Seconds wall = std::chrono::steady_clock::now() - begin;
  std::size_t lost = 0;
  for (const locks::Lock& lock : held) {
    lost += lock.check() ? 0U : 1U;
  }
  const double percent = 100 * cpu / wall;
  return {.workload = "M4",
          .about = fmt::format("{} leases of 10 s, held for {:.1f} s", count, wall.count()),
          .rows = {{"holdfast", percent, "% of a core"},
                   {"holdfast, lost", static_cast<double>(lost), "leases"}},
          .targets = {
              {"at most 1 % of a core for 10,000", percent * 10'000 <= static_cast<double>(count)},
              {"nothing lost", lost == 0}}};
}

}  // namespace holdfast::bench_redis
