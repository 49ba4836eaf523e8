#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sysexits.h>

#include "bench/local/measure.h"

namespace holdfast::bench {

namespace {

struct alignas(64) Worker {
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
  std::uint64_t operations = 0;
};

}  // namespace

void fail_broken(std::string_view contender, std::string_view what) {
  fmt::print(stderr, "bench_local: {} is broken: {}\n", contender, what);
  std::_Exit(EX_SOFTWARE);  // other threads may be running, or stuck for ever
}

Timing run_threads(std::size_t threads, Seconds time, const ThreadLoop& loop) {
  std::vector<Worker> workers(threads);
  std::atomic<bool> stop = false;
  std::barrier start(static_cast<std::ptrdiff_t>(threads + 1));
  {
    std::vector<std::jthread> running;
    running.reserve(threads);
    for (std::size_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        Worker& worker = workers[thread];
        start.arrive_and_wait();
        worker.begin = std::chrono::steady_clock::now();
        worker.operations = loop(thread, stop);
        worker.end = std::chrono::steady_clock::now();
      });
    }
    start.arrive_and_wait();
    std::this_thread::sleep_for(time);
    stop.store(true, std::memory_order_relaxed);
  }
  Timing timing{.wall = std::ranges::max(workers, {}, &Worker::end).end -
                        std::ranges::min(workers, {}, &Worker::begin).begin};
  for (const Worker& worker : workers) timing.operations += worker.operations;
  return timing;
}

}  // namespace holdfast::bench
