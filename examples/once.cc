// A job that every machine of a fleet schedules, but that runs on only one of them.
#include <holdfast/recipes/once.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include <holdfast/engines/open_store.h>

using namespace std::chrono_literals;
using holdfast::recipes::Once;
using holdfast::recipes::OnceOutcome;

int main() {
  const auto store = holdfast::base::value_or_throw(holdfast::engines::open_store("memory:"));
  std::atomic<int> runs = 0;
  std::atomic<int> skipped = 0;
  {
    std::vector<std::jthread> machines;
    for (int i = 0; i < 8; ++i) {
      machines.emplace_back([&] {
        holdfast::locks::LockProvider provider(store);  // one per machine
        Once hourly(provider, {.period = 50min});
        const auto outcome = hourly.run("report", [&](const holdfast::locks::Lock&) { ++runs; });
        skipped += outcome == OnceOutcome::skipped ? 1 : 0;
      });
    }
  }
  std::cout << "ran " << runs << " time, skipped " << skipped << " times\n";
  return runs == 1 && skipped == 7 ? EXIT_SUCCESS : EXIT_FAILURE;
}
