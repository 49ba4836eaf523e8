#include <holdfast/local/internal/shard_lock.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/local/testing_support.h>

namespace holdfast::local::internal {
namespace {

using testing_support::stress_rounds;

// Adds to a counter that only the lock protects, from several threads, `hold` between its two
// halves; returns the sum.
template <class Hold>
long contend(int threads, int rounds, Hold hold) {
  ShardLock lock;
  long counter = 0;
  {
    std::vector<std::jthread> adders;
    for (int t = 0; t < threads; ++t) {
      adders.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          const std::lock_guard guard(lock);
          const long before = counter;
          hold();
          counter = before + 1;
        }
      });
    }
  }
  return counter;
}

TEST(ShardLock, ExcludesThreadsThatHoldItBriefly) {
  const int rounds = stress_rounds(50'000);
  EXPECT_EQ(contend(2, rounds, [] {}), 2L * rounds);
}

TEST(ShardLock, ExcludesMoreThreadsThanThereAreCores) {
  const int rounds = stress_rounds(10'000);
  EXPECT_EQ(contend(8, rounds, [] {}), 8L * rounds);
}

TEST(ShardLock, WakesSleepingThreads) {
  // A holder that yields its core holds the lock longer than any waiter spins.
  const int rounds = stress_rounds(1600);
  EXPECT_EQ(contend(4, rounds, [] { std::this_thread::yield(); }), 4L * rounds);
}

TEST(ShardLock, RefusesEveryCallerOnceItIsClosed) {
  ShardLock lock;
  lock.lock();
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 3; ++t) {
      callers.emplace_back([&] { refused += lock.lock_unless_closed() ? 0 : 1; });
    }
    lock.close();
  }
  EXPECT_EQ(refused, 3);
  EXPECT_FALSE(lock.lock_unless_closed());
}

}  // namespace
}  // namespace holdfast::local::internal
