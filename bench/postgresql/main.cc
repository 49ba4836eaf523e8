// Locks over a PostgreSQL server, next to a bare client. This program starts the server.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <tests/support/postgres_server.h>

#include "bench/locks/run_workloads.h"
#include "bench/postgresql/workloads.h"

namespace {

using namespace holdfast::bench_postgresql;
using holdfast::bench_locks::run_workloads;

struct Workload {
  const char* name;
  Report (*run)(const Context& context);
};

constexpr Workload kWorkloads[] = {{"M1", lone_pairs},
                                   {"M1", crowded_pairs},
                                   {"M2", hand_off},
                                   {"M3", crowd_at_one_store},
                                   {"M3", crowd_at_two_stores}};

int run(Seconds seconds, bool syncs, const std::vector<std::string>& only, bool json) {
  const holdfast::tests::PostgresServer server(
      {.arguments = {"-c", syncs ? "fsync=on" : "fsync=off", "-c", "max_connections=300"}});
  run_workloads(kWorkloads, only, json, [&](const Workload& workload) {
    return workload.run({.url = server.url(), .seconds = seconds});
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Locks over a PostgreSQL server on this machine, which this program starts.\n"
      "M1 acquire and release, M2 hand-off between stores, M3 32 waiters for one name. Compare "
      "figures within one run only."};
  app.footer("Examples:\n  bench_postgresql --only M1 --seconds 5\n  bench_postgresql --no-fsync");
  std::vector<std::string> only;
  double seconds = 3;
  bool no_fsync = false;
  bool json = false;
  app.add_option("--only", only, "Only these workloads, such as M1,M3")
      ->delimiter(',')
      ->check(CLI::IsMember({"M1", "M2", "M3"}));
  app.add_option("--seconds", seconds, "How long each contender runs (default: 3)")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_flag("--no-fsync", no_fsync, "The server does not wait for its disk");
  app.add_flag("--json", json, "Print the rows as JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(Seconds(seconds), !no_fsync, only, json);
  } catch (const std::exception& error) {
    std::cerr << "bench_postgresql: " << error.what() << '\n';
    return 1;
  }
}
