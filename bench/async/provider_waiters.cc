#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <malloc.h>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/engines/open_store.h>

#include "bench/async/workloads.h"

namespace holdfast::bench_async {

namespace asio = boost::asio;

namespace {

constexpr int kWaiters = 10'000;
constexpr int kNames = 100;

std::string name(int i) { return fmt::format("job/{}", i % kNames); }

std::size_t heap_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

asio::awaitable<void> take_turn(async::AsyncLockProvider& provider, int i, int& turns) {
  async::AsyncLock lock = co_await provider.acquire(name(i));
  ++turns;
  base::value_or_throw(co_await lock.release());
}

}  // namespace

Report provider_waiters(Seconds time) {
  async::AsyncLockProvider provider(base::value_or_throw(engines::open_store("memory:")));
  asio::io_context context(1);
  int turns = 0;
  std::vector<locks::Lock> held;
  for (int i = 0; i < kNames; ++i) {
    held.push_back(provider.blocking().acquire(name(i)));
  }
  const std::size_t before = heap_in_use();
  for (int i = 0; i < kWaiters; ++i) {
    asio::co_spawn(context, take_turn(provider, i, turns), asio::detached);
  }
  while (provider.waiting() < kWaiters) {
    context.run_one();
  }
  const double bytes = static_cast<double>(heap_in_use() - before) / kWaiters;

  const Seconds cpu_before = bench_locks::cpu_time();
  context.run_for(std::chrono::duration_cast<std::chrono::nanoseconds>(time));
  const double share = (bench_locks::cpu_time() - cpu_before) / time * 100;

  const auto begin = std::chrono::steady_clock::now();
  held.clear();
  context.run();
  const Seconds spent = std::chrono::steady_clock::now() - begin;
  return {.workload = "A5",
          .about = fmt::format("memory: {} coroutines wait for {} names on one thread", kWaiters,
                               kNames),
          .rows = {{"memory of a waiter, its frame included", bytes, "bytes"},
                   {"CPU while they wait, of one core", share, "%"},
                   {"a turn, by hand-over", spent.count() / kWaiters * 1e6, "µs"},
                   {"turns", static_cast<double>(turns), ""}},
          .targets = {{"at most 4 KiB each", bytes <= 4096},
                      {"at most 10 % of a core", share <= 10},
                      {"every waiter had a turn", turns == kWaiters}}};
}

}  // namespace holdfast::bench_async
