// Locks over a Redis server, next to a bare client and to redis-py. This program starts the server.
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/locks/run_workloads.h"
#include "bench/redis/spinner.h"
#include "bench/redis/workloads.h"

namespace {

using namespace holdfast::bench_redis;
using holdfast::bench_locks::run_workloads;

constexpr Workload kWorkloads[] = {
    {"M1", lone_pairs},           {"M1", crowded_pairs},          {"M2", hand_off},
    {"M3", crowd_in_one_process}, {"M3", crowd_in_two_processes}, {"M4", held_leases},
    {"M5", server_cost},
#ifdef HOLDFAST_TOOL
    {"M6", watched_names},
#endif
};

int run(const Settings& settings, const std::vector<std::string>& only, bool json) {
  std::optional<Spinner> spinner;
  if (settings.spin) {
    spinner.emplace();
  }
  const holdfast::tests::RedisServer server;
  run_workloads(kWorkloads, only, json, [&](const Workload& workload) {
    return workload.run({.settings = settings, .server = server});
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Locks over a Redis server on this machine, which this program starts.\n"
      "M1 acquire and release, M2 hand-off between processes, M3 32 waiters for one name,\n"
      "M4 many leases that are held and renewed, M5 what a free mutex costs the server, M6 what\n"
      "'holdfast serve' costs. Compare "
      "figures within one run only."};
  app.footer(
      "Examples:\n"
      "  bench_redis --only M1 --seconds 5\n"
      "  bench_redis --only M4 --leases 100000 --seconds 60");
  Settings settings;
  std::vector<std::string> only;
  double seconds = settings.seconds.count();
  bool json = false;
  std::vector<std::string> role_words;
  app.add_option("--only", only, "Only these workloads, such as M1,M3")
      ->delimiter(',')
      ->check(CLI::IsMember({"M1", "M2", "M3", "M4", "M5", "M6"}));
  app.add_option("--seconds", seconds, "How long each contender runs (default: 3)")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--leases", settings.leases,
                 "How many leases M4 holds and M6 watches (default: 10000)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--spin", settings.spin, "Keep a core awake meanwhile");
  app.add_flag("--json", json, "Print the rows as JSON");
  app.add_option("--as", role_words)->expected(1, 4)->group("");
  CLI11_PARSE(app, argc, argv);
  settings.seconds = Seconds(seconds);
  try {
    return role_words.empty() ? run(settings, only, json) : run_as(role_words);
  } catch (const std::exception& error) {
    std::cerr << "bench_redis: " << error.what() << '\n';
    return 1;
  }
}
