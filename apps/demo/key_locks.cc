#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/local/key_lock.h>

#include "scene.h"

namespace holdfast::demo {

namespace {

using local::KeyLock;
using local::Priority;

// Waits until this many threads are queued.
void wait_for_line(const KeyLock& locks, std::size_t waiting) {
  for (;;) {
    std::size_t seen = 0;
    for (const local::KeyState& state : locks.snapshot()) {
      seen += state.waiting_exclusive + state.waiting_shared;
    }
    if (seen == waiting) {
      return;
    }
    std::this_thread::yield();
  }
}

}  // namespace

void threads_contend_per_key() {
  title("1. Threads contend per key");
  constexpr int kThreads = 4;
  constexpr long kRounds = 50'000;
  const std::vector<std::string> accounts = {"account:anna", "account:bert"};
  std::vector<long> balances(accounts.size(), 0);  // not atomic: only the locks protect them
  KeyLock locks;
  {
    std::latch start(kThreads);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        for (long round = 0; round < kRounds; ++round) {
          const auto which = static_cast<std::size_t>(round) % accounts.size();
          const auto guard = locks.lock(accounts[which]);
          ++balances[which];
        }
      });
    }
  }
  const local::KeyLockStats stats = locks.stats();
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    fmt::print("   {}: {} threads paid in 1 coin {} times in total, the balance is {}\n",
               accounts[i], kThreads, kThreads * kRounds / 2, balances[i]);
    require(balances[i] == kThreads * kRounds / 2, "no update is lost");
  }
  fmt::print("   {} acquisitions, {} of them waited, {:.3f} ms at most; {} keys remain\n",
             stats.acquisitions, stats.contended, milliseconds(stats.longest_wait), locks.size());
  require(locks.size() == 0, "no entry remains");
}

void readers_share() {
  title("2. Readers share a key, a writer has it alone");
  constexpr int kReaders = 3;
  KeyLock locks;
  {
    std::latch all_inside(kReaders);
    std::vector<std::jthread> readers;
    for (int i = 0; i < kReaders; ++i) {
      readers.emplace_back([&] {
        const auto guard = locks.lock_shared("report");
        all_inside.arrive_and_wait();  // would hang if they excluded each other
      });
    }
  }
  fmt::print("   {} readers held \"report\" at the same moment\n", kReaders);
  auto reader = locks.lock_shared("report");
  require(!locks.try_lock("report"), "a writer cannot enter while a reader holds the key");
  fmt::print("   a writer tries while one reader holds it: refused\n");
  auto writer = reader.try_upgrade();
  require(writer.has_value() && !locks.try_lock_shared("report"), "a writer has the key alone");
  fmt::print("   the last reader becomes the writer; another reader tries: refused\n");
}

void an_urgent_waiter_goes_ahead() {
  title("3. Waiters are served in order, urgent ones first");
  KeyLock locks;
  std::vector<std::string> order;
  {
    auto holder = locks.lock("printer");
    std::vector<std::jthread> waiters;
    const auto wait = [&](std::string name, Priority priority) {
      waiters.emplace_back([&locks, &order, name = std::move(name), priority] {
        const auto guard = locks.lock("printer", {.priority = priority});
        order.push_back(name);
      });
      wait_for_line(locks, waiters.size());
    };
    wait("first", Priority::normal);
    wait("second", Priority::normal);
    wait("urgent", Priority::urgent);
    holder.unlock();
  }
  fmt::print("   arrived: first, second, urgent; served: {}, {}, {}\n", order[0], order[1],
             order[2]);
  require(order == std::vector<std::string>{"urgent", "first", "second"},
          "the urgent waiter is served first");
}

}  // namespace holdfast::demo
