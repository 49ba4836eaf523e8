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
                                   {"M3", crowd_at_two_stores},
                                   {"M4", held_leases},
                                   {"M5", bloat}};

struct Arguments {
  std::vector<std::string> only{};
  double seconds = 3;
  std::size_t leases = 10'000;
  std::uint64_t operations = 100'000;
  bool no_fsync = false;
  bool json = false;
};

int run(const Arguments& arguments) {
  const holdfast::tests::PostgresServer server(
      {.arguments = {"-c", arguments.no_fsync ? "fsync=off" : "fsync=on", "-c",
                     "max_connections=300"}});
  run_workloads(kWorkloads, arguments.only, arguments.json, [&](const Workload& workload) {
    return workload.run({.url = server.url(),
                         .seconds = Seconds(arguments.seconds),
                         .leases = arguments.leases,
                         .operations = arguments.operations});
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Locks over a PostgreSQL server on this machine, which this program starts.\n"
      "M1 acquire and release, M2 hand-off between stores, M3 32 waiters for one name, M4 held "
      "leases, M5 the size of the tables. Compare figures within one run only."};
  app.footer(
      "Examples:\n  bench_postgresql --only M1 --seconds 5\n  bench_postgresql --no-fsync\n"
      "  bench_postgresql --only M5 --no-fsync --operations 10000000");
  Arguments arguments;
  app.add_option("--only", arguments.only, "Only these workloads, such as M1,M3")
      ->delimiter(',')
      ->check(CLI::IsMember({"M1", "M2", "M3", "M4", "M5"}));
  app.add_option(
         "--seconds", arguments.seconds,
         "How long each contender runs (default: 3); M4 takes 20, or less if this is under 1")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--leases", arguments.leases, "Held leases of M4 (default: 10,000)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}));
  app.add_option("--operations", arguments.operations, "Operations of M5 (default: 100,000)")
      ->check(CLI::Range(std::uint64_t{1'000}, std::uint64_t{1'000'000'000}));
  app.add_flag("--no-fsync", arguments.no_fsync, "The server does not wait for its disk");
  app.add_flag("--json", arguments.json, "Print the rows as JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "bench_postgresql: " << error.what() << '\n';
    return 1;
  }
}
