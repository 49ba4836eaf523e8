#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <holdfast/local/key_lock.h>

#include "bench/local/measure.h"
#include "bench/scale/row.h"

namespace holdfast::bench_scale {

namespace {

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

Measured hot_key(Context& context, std::size_t threads) {
  local::KeyLock locks;
  const bench::Timing timing =
      bench::run_timed(threads, context.time(), [&locks](std::size_t /*thread*/) {
        return [&locks](std::uint64_t /*i*/) {
          const auto guard = locks.lock("hot");
          bench::critical_section();
        };
      });
  return {.value = milliseconds(locks.stats().longest_wait),
          .note = fmt::format("{:.2f} M/s", timing.per_second() / 1e6)};
}

constexpr std::size_t kKeys = 4096;  // of each thread

Measured as_wall_time(const bench::Timing& timing) {
  return {.value = 1e9 / timing.per_second(),
          .note = fmt::format("{:.1f} M/s", timing.per_second() / 1e6)};
}

Measured lock_distinct_keys(Context& context, std::size_t threads, std::size_t shards) {
  local::KeyLock locks({.shards = shards});
  return as_wall_time(bench::run_timed(threads, context.time(), [&locks](std::size_t thread) {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < kKeys; ++i) keys.push_back(fmt::format("t{}:{}", thread, i));
    return [&locks, keys](std::uint64_t i) {
      const auto guard = locks.lock(keys[i % kKeys]);
      bench::critical_section();
    };
  }));
}

Measured distinct_keys(Context& context, std::size_t threads) {
  return lock_distinct_keys(context, threads, 0);
}

Measured distinct_keys_many_shards(Context& context, std::size_t threads) {
  return lock_distinct_keys(context, threads, 16'384);
}

// The floor that the machine sets: a spin lock for each key, on a cache line of its own, without a
// table.
Measured distinct_spin_locks(Context& context, std::size_t threads) {
  struct alignas(64) SpinLock {
    std::atomic<bool> held = false;
  };
  std::vector<SpinLock> locks(threads * kKeys);
  return as_wall_time(bench::run_timed(threads, context.time(), [&locks](std::size_t thread) {
    return [own = &locks[thread * kKeys]](std::uint64_t i) {
      std::atomic<bool>& held = own[i % kKeys].held;
      while (held.exchange(true, std::memory_order_acquire)) {
      }
      bench::critical_section();
      held.store(false, std::memory_order_release);
    };
  }));
}

Row row_of_pairs(const char* name, const char* about,
                 Measured (*measure)(Context& context, std::size_t size)) {
  return {.name = name,
          .about = about,
          .size = "threads",
          .unit = "ns of wall time",
          .sizes = {1, 2, 8},
          .quick_sizes = {1, 2, 8},
          .measure = measure};
}

}  // namespace

std::vector<Row> key_lock_rows() {
  return {{.name = "hot-key",
           .about = "KeyLock: the longest wait for one key that all threads want",
           .size = "threads",
           .unit = "ms",
           .sizes = {4, 16, 64},
           .quick_sizes = {2, 4, 8},
           .measure = hot_key},
          row_of_pairs("distinct-keys", "KeyLock: lock and unlock, each thread its own keys",
                       distinct_keys),
          row_of_pairs("distinct-keys-16k",
                       "KeyLock with 16,384 shards: lock and unlock, each thread its own keys",
                       distinct_keys_many_shards),
          row_of_pairs("distinct-spin-locks",
                       "A spin lock for each key, without a table: what the machine allows",
                       distinct_spin_locks)};
}

}  // namespace holdfast::bench_scale
