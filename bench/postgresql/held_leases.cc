#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/postgresql/workloads.h"

namespace holdfast::bench_postgresql {

Report held_leases(const Context& context) {
  locks::LockProvider provider(base::value_or_throw(engines::open_store(context.url)));
  std::vector<locks::Lock> held;
  held.reserve(context.leases);
  for (std::size_t i = 0; i < context.leases; ++i) {
    held.push_back(provider.acquire(fmt::format("held:{}", i)));
  }
  // The default ttl is renewed every ten seconds: a whole number of renewals, unless asked for
  // less.
  const auto begin = std::chrono::steady_clock::now();
  const Seconds before = bench_locks::cpu_time();
  std::this_thread::sleep_for(context.seconds < Seconds(1) ? context.seconds : Seconds(20));
  const Seconds cpu = bench_locks::cpu_time() - before;
  const Seconds wall = std::chrono::steady_clock::now() - begin;
  std::size_t lost = 0;
  for (const locks::Lock& lock : held) {
    lost += lock.check() ? 0U : 1U;
  }
  const double percent = 100 * cpu / wall;
  return {
      .workload = "M4",
      .about = fmt::format("{} leases of 30 s, held for {:.1f} s", context.leases, wall.count()),
      .rows = {{"holdfast", percent, "% of a core"},
               {"holdfast, lost", static_cast<double>(lost), "leases"}},
      .targets = {{fmt::format("at most 2 % of a core for 10,000 ({:.2f} % for {})", percent,
                               context.leases),
                   percent * 10'000 <= 2 * static_cast<double>(context.leases)},
                  {"nothing lost", lost == 0}}};
}

}  // namespace holdfast::bench_postgresql
