#include <algorithm>

#include <fmt/format.h>

#include "bench/local/alternate.h"

namespace holdfast::bench {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Rows alternate(const Workload& workload, const Context& context, std::size_t threads,
               std::vector<Lane> lanes) {
  const std::size_t rounds = context.options.rounds;
  std::vector<std::vector<double>> speeds(lanes.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < lanes.size(); ++turn) {
      const std::size_t lane = (round + turn) % lanes.size();
      context.progress.show(fmt::format("{}, threads: {}, round {} of {}: {}", workload.name,
                                        threads, round + 1, rounds, lanes[lane].contender));
      speeds[lane].push_back(lanes[lane].run().per_second());
    }
  }
  Rows rows;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    rows.push_back({workload.name, threads, lanes[lane].contender, Speed{median(speeds[lane])}});
  }
  return rows;
}

}  // namespace holdfast::bench
