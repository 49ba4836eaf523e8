#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/local/measure.h"
#include "bench/locks/measure.h"
#include "bench/locks/report.h"

namespace holdfast::bench_redis {

using bench_locks::Report;
using bench_locks::Seconds;

// A contender that acquires and releases; returns how many pairs per second it makes in this time.
struct Lane {
  std::string contender;
  std::function<double(Seconds time)> run;
};

// Lets the lanes take turns, each time in another order; returns the median of each.
[[nodiscard]] std::vector<double> take_turns(const std::vector<Lane>& lanes, Seconds time);

// Returns the report of one row for each lane.
[[nodiscard]] Report report_pairs(std::string workload, std::string about,
                                  const std::vector<Lane>& lanes,
                                  const std::vector<double>& speeds);

// Returns a lane in which each thread acquires and releases a name of its own, through one provider
// of the store at `url`.
[[nodiscard]] Lane provider_lane(std::string contender, const std::string& url,
                                 std::size_t threads);

// `make_pair(thread)` returns a function that makes one pair.
template <class MakePair>
double pairs_per_second(std::size_t threads, Seconds time, const MakePair& make_pair) {
  return bench::run_threads(threads, time,
                            [&](std::size_t thread, const std::atomic<bool>& stop) {
                              const auto pair = make_pair(thread);
                              std::uint64_t pairs = 0;
                              while (!stop.load(std::memory_order_relaxed)) {
                                pair();
                                ++pairs;
                              }
                              return pairs;
                            })
      .per_second();
}

}  // namespace holdfast::bench_redis
