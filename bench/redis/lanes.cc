#include <memory>
#include <utility>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/redis/lanes.h"

namespace holdfast::bench_redis {

std::vector<double> take_turns(const std::vector<Lane>& lanes, Seconds time) {
  constexpr int kRounds = 5;
  std::vector<std::vector<double>> seen(lanes.size());
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t turn = 0; turn < lanes.size(); ++turn) {
      const std::size_t lane = (round + turn) % lanes.size();
      seen[lane].push_back(lanes[lane].run(time / kRounds));
    }
  }
  std::vector<double> medians;
  for (auto& speeds : seen) {
    medians.push_back(bench_locks::median(std::move(speeds)));
  }
  return medians;
}

Report report_pairs(std::string workload, std::string about, const std::vector<Lane>& lanes,
                    const std::vector<double>& speeds) {
  Report made{
      .workload = std::move(workload), .about = std::move(about), .rows = {}, .targets = {}};
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    made.rows.push_back({lanes[i].contender, speeds[i], "pairs/s"});
  }
  return made;
}

Lane provider_lane(std::string contender, const std::string& url, std::size_t threads) {
  auto provider =
      std::make_shared<locks::LockProvider>(base::value_or_throw(engines::open_store(url)));
  return {std::move(contender), [provider, threads](Seconds time) {
            return pairs_per_second(threads, time, [&](std::size_t thread) {
              return [provider, name = fmt::format("holdfast:{}", thread)] {
                base::value_or_throw(provider->acquire(name).release());
              };
            });
          }};
}

}  // namespace holdfast::bench_redis
