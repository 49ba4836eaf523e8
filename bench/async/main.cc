// The locks for coroutines, next to home-made ones on Boost.Asio.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/async/workloads.h"
#include "bench/locks/run_workloads.h"

namespace {

using namespace holdfast::bench_async;
using holdfast::bench_locks::run_workloads;

constexpr Workload kWorkloads[] = {{"A1", key_pairs},
                                   {"A2", key_hand_over},
                                   {"A3", key_waiters},
                                   {"A4", provider_pairs},
                                   {"A5", provider_waiters}};

void run(const std::vector<std::string>& only, double seconds, bool json) {
  run_workloads(kWorkloads, only, json,
                [&](const Workload& workload) { return workload.run(Seconds(seconds)); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "The locks for coroutines. Compare figures within one run only.\n"
      "A1 lock and unlock a free key, A2 hand-over between coroutines, A3 memory of a waiter,\n"
      "A4 acquire and release over the memory engine, A5 10,000 waiting coroutines."};
  std::vector<std::string> only;
  double seconds = 3;
  bool json = false;
  app.add_option("--only", only, "Only these workloads, such as A1,A3")
      ->delimiter(',')
      ->check(CLI::IsMember({"A1", "A2", "A3", "A4", "A5"}));
  app.add_option("--seconds", seconds, "How long each contender runs (default: 3)")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_flag("--json", json, "Print the rows as JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    run(only, seconds, json);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_async: " << error.what() << '\n';
    return 1;
  }
}
