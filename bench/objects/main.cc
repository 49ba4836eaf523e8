// The object host, next to the lock that each call needs.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/locks/run_workloads.h"
#include "bench/objects/workloads.h"

namespace {

using namespace holdfast::bench_objects;
using holdfast::bench_locks::run_workloads;

constexpr Workload kWorkloads[] = {
    {"O1", typed_calls}, {"O2", create_and_erase}, {"O3", other_calls}, {"O4", saves}};

int run(const std::vector<std::string>& only, double seconds, bool json) {
  run_workloads(kWorkloads, only, json,
                [&](const Workload& workload) { return workload.run(Seconds(seconds)); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "The object host, next to the lock that each call needs.\n"
      "O1 typed calls, O2 create and erase, O3 other calls, O4 saves to SQLite."};
  std::vector<std::string> only;
  double seconds = 3;
  bool json = false;
  app.add_option("--only", only, "Only these workloads, such as O1,O3")
      ->delimiter(',')
      ->check(CLI::IsMember({"O1", "O2", "O3", "O4"}));
  app.add_option("--seconds", seconds, "How long each contender runs (default: 3)")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_flag("--json", json, "Print the rows as JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(only, seconds, json);
  } catch (const std::exception& error) {
    std::cerr << "bench_objects: " << error.what() << '\n';
    return 1;
  }
}
