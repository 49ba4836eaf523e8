// The embedded engines through the provider and the tool, next to the usual alternatives.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/locks/run_workloads.h"
#include "bench/locks/workloads.h"

namespace {

using namespace holdfast::bench_locks;

constexpr Workload kWorkloads[] = {
    {"L1", sqlite_pair},         {"L2", sqlite_hand_off},   {"L3", run_true},
    {"L4", memory_pair},         {"L5", held_leases},       {"L6", fairness},
    {"L7", sqlite_longest_wait}, {"L7", redis_longest_wait}};

int run(const std::vector<std::string>& only, double seconds, bool json) {
  run_workloads(kWorkloads, only, json,
                [&](const Workload& workload) { return workload.run(Seconds(seconds)); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "The embedded engines through the provider and the tool.\n"
      "L1 SQLite next to bare updates, L2 hand-off between processes, L3 `holdfast run` next to\n"
      "flock, L4 the memory engine, L5 10,000 held leases, L6 fairness among 32 waiters, L7 the\n"
      "longest wait among two processes with 1 to 8 threads each, on SQLite and on Redis."};
  std::vector<std::string> only;
  double seconds = 3;
  bool json = false;
  std::vector<std::string> orders;
  std::vector<std::string> turns;
  app.add_option("--only", only, "Only these workloads, such as L1,L3")
      ->delimiter(',')
      ->check(CLI::IsMember({"L1", "L2", "L3", "L4", "L5", "L6", "L7"}));
  app.add_option("--seconds", seconds, "How long each workload runs (default: 3)")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_flag("--json", json, "Print the rows as JSON");
  // The option with which this program starts itself as the other process of L2.
  app.add_option("--wait-for-orders", orders)->expected(2)->group("");
  app.add_option("--take-turns", turns)->expected(4)->group("");  // the same of L7
  CLI11_PARSE(app, argc, argv);
  try {
    if (!turns.empty()) {
      return take_turns(turns[0], turns[1], std::stoi(turns[2]),
                        std::chrono::milliseconds(std::stoi(turns[3])));
    }
    return orders.empty() ? run(only, seconds, json) : wait_for_orders(orders[0], orders[1]);
  } catch (const std::exception& error) {
    std::cerr << "bench_locks: " << error.what() << '\n';
    return 1;
  }
}
