// Up to three threads use a pool at a time; then it is drained for maintenance.
#include <holdfast/recipes/semaphore.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include <holdfast/engines/open_store.h>

using namespace std::chrono_literals;

int main() {
  holdfast::locks::LockProvider provider(
      holdfast::base::value_or_throw(holdfast::engines::open_store("memory:")));
  holdfast::recipes::Semaphore gpus(provider, "gpus", 3);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 20; ++round) {
          const auto one = gpus.acquire();
          const int now = ++inside;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          --inside;
        }
      });
    }
  }
  auto all = gpus.drain({.wait = 1min});  // all others have finished, and none can start
  const auto while_drained = gpus.try_acquire();
  const bool is_closed = while_drained && !*while_drained;
  const auto reduced = all.reduce(1);  // releases two of the three
  std::cout << "at most " << most << " at a time; after the drain " << *gpus.available()
            << " are free again\n";
  return most <= 3 && is_closed && reduced && gpus.available() == 2U ? EXIT_SUCCESS : EXIT_FAILURE;
}
