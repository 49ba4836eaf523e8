#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/scale/row.h"

namespace holdfast::bench_scale {

namespace {

// Acquires another lock every few milliseconds. Returns how long that took at most.
Seconds longest_acquire(locks::LockProvider& provider, Seconds wall) {
  using Clock = std::chrono::steady_clock;
  Seconds longest{0};
  const auto end = Clock::now() + wall;
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    const auto lock = provider.acquire("another");
    longest = std::max<Seconds>(longest, Clock::now() - now);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return longest;
}

Measured held(Context& context, std::size_t leases) {
  const std::chrono::seconds ttl(context.quick() ? 1 : 10);
  locks::LockProvider provider(base::value_or_throw(engines::open_store("memory:")));
  std::vector<locks::Lock> held;
  held.reserve(leases);
  for (std::size_t i = 0; i < leases; ++i) {
    held.push_back(provider.acquire(fmt::format("job/{}", i), {.ttl = ttl}));
  }
  // A whole number of renewals, so that the share does not depend on the start.
  const Seconds wall = Seconds(ttl) / 3 * (context.quick() ? 1 : 2);
  const Seconds before = bench_locks::cpu_time();
  const Seconds longest = longest_acquire(provider, wall);
  const double share = (bench_locks::cpu_time() - before) / wall * 100;
  const auto lost =
      std::ranges::count_if(held, [](const locks::Lock& lock) { return !lock.check(); });
  return {.value = share,
          .note = fmt::format("{} lost, acquire at most {:.1f} ms", lost, longest.count() * 1000)};
}

}  // namespace

std::vector<Row> keeper_rows() {
  return {{.name = "keeper",
           .about = "the processor time to keep held leases alive, memory store",
           .size = "leases",
           .unit = "% of a core",
           .sizes = {10'000, 100'000, 1'000'000},
           .quick_sizes = {10, 100, 1'000},
           .measure = held}};
}

}  // namespace holdfast::bench_scale
