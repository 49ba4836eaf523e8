#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/postgresql/bare_client.h"
#include "bench/postgresql/workloads.h"
#include "bench/redis/lanes.h"

namespace holdfast::bench_postgresql {

namespace {

using bench_redis::Lane;
using bench_redis::pairs_per_second;
using bench_redis::take_turns;

constexpr int kPipelined = 64;
constexpr std::size_t kThreads = 64;

using Clients = std::shared_ptr<std::vector<std::unique_ptr<BareClient>>>;

// Each with two prepared statements, that take a name as their parameter.
Clients clients(const Context& context, std::size_t count, const std::string& lock,
                const std::string& unlock) {
  auto all = std::make_shared<std::vector<std::unique_ptr<BareClient>>>();
  for (std::size_t i = 0; i < count; ++i) {
    all->push_back(std::make_unique<BareClient>(context.url));
    all->back()->prepare("lock", lock);
    all->back()->prepare("unlock", unlock);
  }
  return all;
}

Lane connection_per_thread(std::string contender, const Clients& all) {
  return {std::move(contender), [all](Seconds time) {
            return pairs_per_second(all->size(), time, [&](std::size_t thread) {
              return [client = (*all)[thread].get(), name = std::to_string(thread)] {
                client->run("lock", {name});
                client->run("unlock", {name});
              };
            });
          }};
}

constexpr const char* kUpdate =
    "UPDATE bare SET holder = 'me', expires = expires + 1 WHERE name = $1::text";
constexpr const char* kUndo = "UPDATE bare SET holder = NULL WHERE name = $1::text";

void make_table(const Context& context) {
  BareClient client(context.url);
  client.run(
      "CREATE TABLE IF NOT EXISTS bare (name text PRIMARY KEY, holder text, expires bigint)"
      " WITH (fillfactor = 50)");
  client.run(
      "INSERT INTO bare SELECT i::text, NULL, 0 FROM generate_series(0, 63) AS i "
      "ON CONFLICT DO NOTHING");
}

Lane updates(const Context& context, std::size_t threads) {
  return connection_per_thread(
      threads == 1 ? "libpq, two updates" : "libpq, a connection per thread",
      clients(context, threads, kUpdate, kUndo));
}

Lane advisory_locks(const Context& context, std::size_t threads) {
  return connection_per_thread("advisory locks, a connection per thread",
                               clients(context, threads, "SELECT pg_advisory_lock($1::bigint)",
                                       "SELECT pg_advisory_unlock($1::bigint)"));
}

Lane pipelined(const Context& context) {
  const Clients one = clients(context, 1, kUpdate, kUndo);
  return {fmt::format("libpq, one thread, {} in a pipeline", kPipelined), [one](Seconds time) {
            return kPipelined * pairs_per_second(1, time, [&](std::size_t) {
                     return [client = one->front().get()] {
                       client->run_many("lock", "", kPipelined);
                       client->run_many("unlock", "", kPipelined);
                     };
                   });
          }};
}

Lane holdfast(const Context& context, std::size_t threads, const std::string& options,
              std::string contender) {
  return bench_redis::provider_lane(std::move(contender), context.url + options, threads);
}

}  // namespace

Report lone_pairs(const Context& context) {
  make_table(context);
  const std::vector<Lane> lanes = {holdfast(context, 1, "", "holdfast"), updates(context, 1),
                                   holdfast(context, 1, "&commit=off", "holdfast, commit=off"),
                                   advisory_locks(context, 1)};
  const std::vector<double> speeds = take_turns(lanes, context.seconds);
  Report made = bench_redis::report_pairs("M1", "acquire and release, one caller", lanes, speeds);
  const double ratio = speeds[1] / speeds[0];
  made.rows.push_back({"holdfast", 1e6 / speeds[0], "µs/pair"});
  made.rows.push_back({"libpq, two updates", 1e6 / speeds[1], "µs/pair"});
  made.targets = {
      {fmt::format("at most 1.3 times as long as two updates ({:.2f})", ratio), ratio <= 1.3}};
  return made;
}

Report crowded_pairs(const Context& context) {
  make_table(context);
  const std::vector<Lane> lanes = {
      holdfast(context, kThreads, "", "holdfast"),
      updates(context, kThreads),
      pipelined(context),
      advisory_locks(context, kThreads),
      holdfast(context, kThreads, "&max_connections=64", "holdfast, 64 connections"),
      holdfast(context, kThreads, "&commit=off", "holdfast, commit=off")};
  const std::vector<double> speeds = take_turns(lanes, context.seconds);
  Report made = bench_redis::report_pairs("M1", "acquire and release, 64 threads", lanes, speeds);
  const double share = speeds[0] / speeds[2];
  const double ratio = speeds[0] / speeds[3];
  made.targets = {
      {fmt::format("at least half of what is pipelined ({:.0f} %)", share * 100), share >= 0.5},
      {fmt::format("at least 3 times as many as with advisory locks ({:.2f})", ratio), ratio >= 3}};
  return made;
}

}  // namespace holdfast::bench_postgresql
