#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/locks/child.h"
#include "bench/locks/workloads.h"

namespace holdfast::bench_locks {

namespace {

// Reads a clock that both processes share.
std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void wait_until_somebody_waits() {
  // A waiter is not visible outside the store; this is longer than it takes to start waiting.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

int wait_for_orders(const std::string& url, const std::string& name) {
  locks::LockProvider provider(base::value_or_throw(engines::open_store(url)));
  for (std::string order; std::getline(std::cin, order);) {
    auto lock = provider.acquire(name);
    const std::int64_t granted = now_ns();
    base::value_or_throw(lock.release());
    std::cout << granted << std::endl;
  }
  return 0;
}

Report sqlite_hand_off(Seconds time) {
  const tests::TemporaryFolder folder;
  const std::string url = "sqlite:" + (folder / "locks.db").string();
  Child other({std::filesystem::read_symlink("/proc/self/exe"), "--wait-for-orders", url, "job"});
  locks::LockProvider provider(base::value_or_throw(engines::open_store(url)));

  std::vector<double> hand_offs;
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    auto lock = provider.acquire("job");
    other.say("acquire");
    wait_until_somebody_waits();
    const std::int64_t released = now_ns();
    base::value_or_throw(lock.release());
    hand_offs.push_back(static_cast<double>(std::stoll(other.hear()) - released) * 1e-6);
  } while (std::chrono::steady_clock::now() < end);

  const double milliseconds = median(hand_offs);
  return {.workload = "L2",
          .about = fmt::format("SQLite: hand-off to a waiter in another process, median of {}",
                               hand_offs.size()),
          .rows = {{"holdfast", milliseconds, "ms"}},
          .targets = {{"at most 2 ms", milliseconds <= 2.0}}};
}

}  // namespace holdfast::bench_locks
