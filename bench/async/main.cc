// The coroutine face beside the blocking one, and what it costs to wait.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/async/workloads.h"

namespace {

using namespace holdfast::bench_async;

constexpr Workload kWorkloads[] = {{"A1", memory_pair}, {"A2", many_waiters}};

void run(const std::vector<std::string>& only, double seconds, bool json) {
  std::vector<Report> reports;
  for (const Workload& workload : kWorkloads) {
    if (!only.empty() && std::ranges::find(only, workload.name) == only.end()) continue;
    reports.push_back(workload.run(Seconds(seconds)));
    if (!json) print_table(reports.back());
  }
  if (json) print_json(reports);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "The locks of coroutines.\n"
      "A1 the memory engine, a coroutine beside a thread; A2 10,000 coroutines that wait."};
  std::vector<std::string> only;
  double seconds = 3;
  bool json = false;
  app.add_option("--only", only, "Some workloads, as in A1,A2")->delimiter(',');
  app.add_option("--seconds", seconds, "How long to measure each")->capture_default_str();
  app.add_flag("--json", json, "As JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    run(only, seconds, json);
  } catch (const std::exception& error) {
    std::cerr << "bench_async: " << error.what() << '\n';
    return 1;
  }
}
