#include <atomic>
#include <barrier>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/local/lease_table.h>

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;

constexpr int kThreads = 4;

bool granted(const base::Result<std::optional<base::FencingToken>>& result) {
  return result.value().has_value();
}

TEST(LeaseTableConcurrency, ExactlyOneOfTheRacingCallersWins) {
  LeaseTable table;
  constexpr int kRounds = 500;
  std::vector<std::atomic<int>> winners(kRounds);
  std::barrier start(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, owner = "owner " + std::to_string(i)] {
        for (std::size_t round = 0; round < kRounds; ++round) {
          start.arrive_and_wait();
          if (granted(table.try_lock("key " + std::to_string(round), owner, 1h))) {
            ++winners[round];
          }
        }
      });
    }
  }
  for (const auto& count : winners) {
    ASSERT_EQ(count, 1);
  }
  EXPECT_EQ(table.size(), static_cast<std::size_t>(kRounds));
}

TEST(LeaseTableConcurrency, ExactlyOneOfTheRacingCallersTakesOverAnExpiredLease) {
  base::ManualClock clock;
  LeaseTable table({.clock = &clock, .sweep_every = 0s});
  constexpr int kRounds = 500;
  std::atomic<int> winners = 0;
  std::barrier start(kThreads, [&clock]() noexcept { clock.advance(1s); });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, owner = "owner " + std::to_string(i)] {
        for (int round = 0; round < kRounds; ++round) {
          start.arrive_and_wait();
          winners += granted(table.try_lock("key", owner, 1s)) ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(winners, kRounds);
}

// Sweeps race with callers that take over the leases that the sweep is about to remove: if the
// sweep removed a new grant, its owner would find its lease missing.
TEST(LeaseTableConcurrency, ASweepNeverRemovesALeaseThatWasTakenOverMeanwhile) {
  base::ManualClock clock;
  LeaseTable table({.clock = &clock, .sweep_every = 0s});
  constexpr int kKeys = 64;
  constexpr int kRounds = 200;
  std::jthread sweeper([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      table.sweep_now();
    }
  });
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) {
    keys.push_back("key " + std::to_string(i));
  }
  for (int round = 0; round < kRounds; ++round) {
    clock.advance(1s);
    for (const std::string& key : keys) {
      ASSERT_TRUE(granted(table.try_lock(key, "owner", 1s)));
    }
    for (const std::string& key : keys) {
      ASSERT_TRUE(table.is_locked_by(key, "owner"));
    }
  }
}

TEST(LeaseTableConcurrency, AnUnprotectedCounterPerKeyEndsExactUnderRandomCalls) {
  LeaseTable table({.sweep_every = 1ms});
  constexpr std::size_t kKeys = 8;
  constexpr int kRounds = 4000;
  struct alignas(64) Protected {
    std::uint64_t value = 0;
    std::uint64_t last_token = 0;
  };
  std::vector<Protected> counters(kKeys);
  std::atomic<std::uint64_t> grants = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        std::mt19937 random(static_cast<unsigned>(i));
        const std::string owner(i % 2 == 0 ? 5 : 60, static_cast<char>('a' + i));
        for (int round = 0; round < kRounds; ++round) {
          const std::size_t index = random() % kKeys;
          const std::string key(index % 2 == 0 ? 3 + index : 40 + index, 'k');
          const auto token = table.try_lock(key, owner, 1h).value();
          if (!token) {
            EXPECT_FALSE(table.unlock(key, owner + "?"));
            continue;
          }
          ++grants;
          Protected& counter = counters[index];
          EXPECT_GT(token->value(), counter.last_token);
          counter.last_token = token->value();
          ++counter.value;
          EXPECT_TRUE(table.renew(key, owner, 2h));
          EXPECT_TRUE(table.unlock(key, owner));
        }
      });
    }
  }
  std::uint64_t total = 0;
  for (const Protected& counter : counters) {
    total += counter.value;
  }
  EXPECT_EQ(total, grants);
  EXPECT_EQ(table.size(), 0U);
}

TEST(LeaseTableConcurrency, TheTableGrowsAndShrinksDuringSweepsAndSnapshots) {
  base::ManualClock clock;
  LeaseTable table({.clock = &clock, .sweep_every = 0s});
  constexpr int kPerThread = 5000;
  {
    std::jthread sweeper([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        table.sweep_now();
        EXPECT_LE(table.snapshot().size(), static_cast<std::size_t>(2 * kPerThread));
      }
    });
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        const std::string prefix = std::to_string(i) + ":";
        for (int key = 0; key < kPerThread; ++key) {
          ASSERT_TRUE(granted(table.try_lock(prefix + std::to_string(key), "owner", 1h)));
        }
        for (int key = 0; key < kPerThread; key += 2) {
          ASSERT_TRUE(table.unlock(prefix + std::to_string(key), "owner"));
        }
      });
    }
    threads.clear();
  }
  EXPECT_EQ(table.size(), static_cast<std::size_t>(kPerThread));
  EXPECT_EQ(table.snapshot().size(), static_cast<std::size_t>(kPerThread));
  clock.advance(2h);
  EXPECT_EQ(table.sweep_now().removed, static_cast<std::size_t>(kPerThread));
  EXPECT_EQ(table.size(), 0U);
}

TEST(LeaseTableConcurrency, TheBackgroundSweepKeepsItsCadenceOnTheInjectedClock) {
  base::ManualClock clock;
  LeaseTable table({.clock = &clock, .sweep_every = 1min});
  for (std::uint64_t beat = 1; beat <= 3; ++beat) {
    ASSERT_TRUE(granted(table.try_lock("a", "one", 1s)));
    clock.wait_for_sleepers(1);
    clock.advance(59s);
    EXPECT_EQ(table.size(), 1U);
    EXPECT_EQ(table.sweeps(), beat - 1);
    clock.advance(1s);
    while (table.sweeps() < beat) {
      std::this_thread::yield();
    }
    EXPECT_EQ(table.size(), 0U);
  }
}

TEST(LeaseTableConcurrency, TheBackgroundSweepEndsAtOnceWithItsTable) {
  base::ManualClock clock;
  {
    const LeaseTable table({.clock = &clock, .sweep_every = std::chrono::hours(1)});
    clock.wait_for_sleepers(1);
  }
  EXPECT_EQ(clock.sleepers(), 0U);  // although the clock never reached the next tick
}

}  // namespace
}  // namespace holdfast::local
