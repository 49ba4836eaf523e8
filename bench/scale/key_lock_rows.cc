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

Measured distinct_keys(Context& context, std::size_t threads) {
  constexpr std::size_t kKeys = 4096;  // of each thread
  local::KeyLock locks;
  const bench::Timing timing =
      bench::run_timed(threads, context.time(), [&locks](std::size_t thread) {
        std::vector<std::string> keys;
        for (std::size_t i = 0; i < kKeys; ++i) keys.push_back(fmt::format("t{}:{}", thread, i));
        return [&locks, keys](std::uint64_t i) {
          const auto guard = locks.lock(keys[i % kKeys]);
          bench::critical_section();
        };
      });
  return {.value = 1e9 / timing.per_second(),
          .note = fmt::format("{:.1f} M/s", timing.per_second() / 1e6)};
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
          {.name = "distinct-keys",
           .about = "KeyLock: lock and unlock, each thread its own keys",
           .size = "threads",
           .unit = "ns of wall time",
           .sizes = {1, 2, 8},
           .quick_sizes = {1, 2, 8},
           .measure = distinct_keys}};
}

}  // namespace holdfast::bench_scale
