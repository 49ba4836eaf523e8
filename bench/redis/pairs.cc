#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/locks/child.h"
#include "bench/redis/bare_client.h"
#include "bench/redis/lanes.h"
#include "bench/redis/workloads.h"

namespace holdfast::bench_redis {

namespace {

constexpr int kPipelined = 64;

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
  return provider_lane("holdfast", context.server.url(), threads);
}

}  // namespace

Report lone_pairs(const Context& context) {
  const std::vector<Lane> lanes = {holdfast(context, 1), bare(context, 1), redis_py(context, 1)};
  const std::vector<double> speeds = take_turns(lanes, context.settings.seconds);
  Report made = report_pairs("M1", "acquire and release, one caller", lanes, speeds);
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
  Report made = report_pairs("M1", "acquire and release, 64 threads", lanes, speeds);
  const double ratio = speeds[0] / speeds[1];
  const double share = speeds[0] / speeds[2];
  made.targets = {
      {fmt::format("at least twice as many as hiredis on 64 connections ({:.2f})", ratio),
       ratio >= 2},
      {fmt::format("stretch: 60 % of what is pipelined ({:.0f} %)", share * 100), share >= 0.6}};
  return made;
}

}  // namespace holdfast::bench_redis
