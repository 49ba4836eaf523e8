#include <chrono>
#include <memory>
#include <thread>

#include "bench/local/alternate.h"
#include "bench/local/contender.h"
#include "bench/local/contenders/cuckoo.h"
#include "bench/local/contenders/holdfast.h"
#include "bench/local/contenders/map.h"
#include "bench/local/contenders/tbb.h"
#include "bench/local/leasing.h"
#include "bench/local/workload.h"

namespace holdfast::bench {

namespace {

Histogram slice_histogram(const local::SweepReport& report) {
  Histogram histogram{.bars = {}, .longest = report.longest_slice};
  auto up_to = local::SweepReport::kStep;
  for (const std::size_t count : report.slice_times) {
    histogram.bars.push_back({.up_to = up_to, .count = count});
    up_to += local::SweepReport::kStep;
  }
  histogram.bars.back().up_to = std::chrono::nanoseconds::max();
  return histogram;
}

// Fills a new table here and sweeps it in another thread, as a sweeper would.
template <SweepContender T>
Timing fill_and_sweep(const Keys& keys, T& leases) {
  lease_all(leases, keys, kTtl);
  std::size_t removed = 0;
  Seconds wall{0};
  std::jthread([&] {
    const auto begin = std::chrono::steady_clock::now();
    removed = leases.sweep_in(2 * kTtl);
    wall = std::chrono::steady_clock::now() - begin;
  }).join();
  if (removed != keys.size()) fail_broken(T::kName, "a sweep left something behind");
  return {.operations = removed, .wall = wall};
}

template <SweepContender T>
Lane sweep_lane(const Keys& keys) {
  return {T::kName, [&keys] {
            const auto leases = std::make_unique<T>();
            return fill_and_sweep(keys, *leases);
          }};
}

Lane holdfast_lane(const Keys& keys, Histogram& slices) {
  return {HoldfastSweptLeases::kName, [&keys, &slices] {
            const auto leases = std::make_unique<HoldfastSweptLeases>();
            const Timing timing = fill_and_sweep(keys, *leases);
            slices.merge(slice_histogram(leases->last_report()));
            return timing;
          }};
}

}  // namespace

Rows run_sweep(const Workload& self, const Context& context) {
  Histogram slices;
  std::vector<Lane> lanes;
  lanes.push_back(holdfast_lane(context.keys, slices));
  lanes.push_back(sweep_lane<TbbLeases<>>(context.keys));
  lanes.push_back(sweep_lane<MapLeases>(context.keys));
  lanes.push_back(sweep_lane<CuckooLeases>(context.keys));

  Rows rows = alternate(self, context, 1, std::move(lanes));
  for (Row& row : rows) {
    const double milliseconds =
        static_cast<double>(context.keys.size()) / std::get<Speed>(row.figure).per_second * 1e3;
    row.figure = Sweep{.milliseconds = milliseconds, .slices = {}};
  }
  std::get<Sweep>(rows.front().figure).slices = slices;
  return rows;
}

}  // namespace holdfast::bench
