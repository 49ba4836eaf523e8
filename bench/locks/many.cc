#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/locks/workloads.h"

namespace holdfast::bench_locks {

namespace {

std::size_t thread_count() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

}  // namespace

Report held_leases(Seconds time) {
  constexpr std::size_t kLeases = 10'000;
  constexpr std::chrono::seconds kTtl(10);
  locks::LockProvider provider(base::value_or_throw(engines::open_store("memory:")));
  const std::size_t threads_before = thread_count();
  std::vector<locks::Lock> held;
  held.reserve(kLeases);
  for (std::size_t i = 0; i < kLeases; ++i) {
    held.push_back(provider.acquire(fmt::format("job/{}", i), {.ttl = kTtl}));
  }
  const std::size_t threads = thread_count() - threads_before;

  // Whole renewal periods, so that the share does not depend on the start.
  const Seconds turn = Seconds(kTtl) / 3;
  const Seconds wall = turn * std::max(1.0, std::ceil(time / turn));
  const Seconds before = cpu_time();
  std::this_thread::sleep_for(wall);
  const double share = (cpu_time() - before) / wall * 100;

  const auto lost = static_cast<double>(
      std::ranges::count_if(held, [](const locks::Lock& lock) { return !lock.check(); }));
  return {.workload = "L5",
          .about = fmt::format("memory: {} held leases with a ttl of 10 s", kLeases),
          .rows = {{"CPU, of one core", share, "%"},
                   {"threads", static_cast<double>(threads), ""},
                   {"lost", lost, ""}},
          .targets = {{"at most 1 % of a core", share <= 1.0},
                      {"two threads: one renews, one fires `lost`", threads == 2},
                      {"nothing lost", lost == 0}}};
}

Report fairness(Seconds time) {
  constexpr std::size_t kWaiters = 32;
  locks::LockProvider provider(base::value_or_throw(engines::open_store("memory:")));
  std::vector<std::size_t> grants(kWaiters);
  {
    std::atomic<bool> stop = false;
    std::vector<std::jthread> waiters;
    {
      // All waiters are there before the first one starts.
      const auto gate = provider.acquire("job");
      for (std::size_t& mine : grants) {
        waiters.emplace_back([&provider, &stop, &mine] {
          while (!stop) {
            const auto lock = provider.acquire("job");
            ++mine;
          }
        });
      }
      while (provider.waiting() < kWaiters) {
        std::this_thread::yield();
      }
    }
    std::this_thread::sleep_for(time);
    stop = true;
  }
  const auto [least, most] = std::ranges::minmax(grants);
  const double ratio =
      static_cast<double>(most) / static_cast<double>(std::max<std::size_t>(least, 1));
  return {.workload = "L6",
          .about = "memory: 32 waiters of one process on one name",
          .rows = {{"most grants of a waiter", static_cast<double>(most), ""},
                   {"least grants of a waiter", static_cast<double>(least), ""},
                   {"ratio", ratio, "x"}},
          .targets = {{"at most 1.5", ratio <= 1.5}}};
}

}  // namespace holdfast::bench_locks
