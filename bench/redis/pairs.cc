#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/local/measure.h"
#include "bench/locks/child.h"
#include "bench/redis/bare_client.h"
#include "bench/redis/workloads.h"

namespace holdfast::bench_redis {

namespace {

constexpr int kRounds = 5;
constexpr int kPipelined = 64;

// A contender of M1; returns how many pairs per second it makes in this time.
struct Lane {
  std::string contender;
  std::function<double(Seconds time)> run;
};

// Lets the lanes take turns, each time in another order; returns the median of each.
std::vector<double> take_turns(const std::vector<Lane>& lanes, Seconds time) {
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

Lane bare(const Context& context, std::size_t threads) {
  auto clients = std::make_shared<std::vector<std::unique_ptr<BareClient>>>();
  for (std::size_t i = 0; i < threads; ++i) {
    clients->push_back(std::make_unique<BareClient>(context.server.port()));
  }
  return {threads == 1 ? "hiredis" : "hiredis, a connection per thread", [=](Seconds time) {
            return pairs_per_second(threads, time, [&](std::size_t thread) {
              return [client = (*clients)[thread].get(), name = fmt::format("bare:{}", thread)] {
                client->lock(name);
                client->unlock(name);
              };
            });
          }};
}

Lane pipelined(const Context& context) {
  auto client = std::make_shared<BareClient>(context.server.port());
  return {fmt::format("hiredis, one thread, {} at once", kPipelined), [=](Seconds time) {
            return kPipelined * pairs_per_second(1, time, [&](std::size_t) {
                     return [&] { client->lock_and_unlock_many("piped:", kPipelined); };
                   });
          }};
}

Lane redis_py(const Context& context, std::size_t threads) {
  return {"redis-py", [port = context.server.port(), threads](Seconds time) {
            bench_locks::Child python({HOLDFAST_PYTHON, HOLDFAST_REDIS_PY, std::to_string(port),
                                       std::to_string(threads), std::to_string(time.count())});
            return std::stod(python.hear());
          }};
}

Lane holdfast(const Context& context, std::size_t threads) {
  auto provider = std::make_shared<locks::LockProvider>(
      base::value_or_throw(engines::open_store(context.server.url())));
  return {"holdfast", [=](Seconds time) {
            return pairs_per_second(threads, time, [&](std::size_t thread) {
              return [provider, name = fmt::format("holdfast:{}", thread)] {
                base::value_or_throw(provider->acquire(name).release());
              };
            });
          }};
}

Report report(std::string about, const std::vector<Lane>& lanes,
              const std::vector<double>& speeds) {
  Report made{.workload = "M1", .about = std::move(about), .rows = {}, .targets = {}};
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    made.rows.push_back({lanes[i].contender, speeds[i], "pairs/s"});
  }
  return made;
}

}  // namespace

Report lone_pairs(const Context& context) {
  const std::vector<Lane> lanes = {holdfast(context, 1), bare(context, 1), redis_py(context, 1)};
  const std::vector<double> speeds = take_turns(lanes, context.settings.seconds);
  Report made = report("acquire and release, one caller", lanes, speeds);
  const double ratio = speeds[1] / speeds[0];
  made.rows.push_back({"holdfast", 1e6 / speeds[0], "µs/pair"});
  made.rows.push_back({"hiredis", 1e6 / speeds[1], "µs/pair"});
  made.targets = {
      {fmt::format("at most 1.25 times as long as hiredis ({:.2f})", ratio), ratio <= 1.25}};
  return made;
}

Report crowded_pairs(const Context& context) {
  constexpr std::size_t kThreads = 64;
  const std::vector<Lane> lanes = {holdfast(context, kThreads), bare(context, kThreads),
                                   pipelined(context), redis_py(context, kThreads)};
  const std::vector<double> speeds = take_turns(lanes, context.settings.seconds);
  Report made = report("acquire and release, 64 threads", lanes, speeds);
  const double ratio = speeds[0] / speeds[1];
  const double share = speeds[0] / speeds[2];
  made.targets = {
      {fmt::format("at least twice as many as hiredis on 64 connections ({:.2f})", ratio),
       ratio >= 2},
      {fmt::format("stretch: 60 % of what is pipelined ({:.0f} %)", share * 100), share >= 0.6}};
  return made;
}

}  // namespace holdfast::bench_redis
