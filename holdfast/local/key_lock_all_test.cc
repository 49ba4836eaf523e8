#include <chrono>
#include <cstddef>
#include <numeric>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/local/key_lock.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local {
namespace {

using testing_support::stress_rounds;
using testing_support::wait_until_waiting;

TEST(KeyLockAll, HoldsEveryKeyUntilTheGuardIsDestroyed) {
  KeyLock locks;
  {
    const KeyLock::MultiGuard guard = locks.lock_all({"b", "a", ""});
    EXPECT_EQ(guard.size(), 3U);
    EXPECT_FALSE(locks.try_lock("a"));
    EXPECT_FALSE(locks.try_lock_shared("b"));
    EXPECT_FALSE(locks.try_lock(""));
  }
  EXPECT_EQ(locks.size(), 0U);
}

TEST(KeyLockAll, LocksAKeyOnceThatIsNamedTwice) {
  KeyLock locks;
  EXPECT_EQ(locks.lock_all({"a", "b", "a"}).size(), 2U);
  EXPECT_TRUE(locks.lock_all({}).empty());
}

TEST(KeyLockAll, LocksNothingIfOneKeyIsNotFreeInTime) {
  KeyLock locks;
  const ExclusiveGuard held = locks.lock("b");
  const auto result = locks.lock_all({"a", "b", "c"}, {.until = std::chrono::steady_clock::now()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), WaitEnd::timed_out);
  EXPECT_EQ(locks.size(), 1U);
}

TEST(KeyLockAll, LocksNothingIfItIsCancelled) {
  KeyLock locks;
  std::stop_source stop;
  stop.request_stop();
  const auto result = locks.lock_all({"a", "b"}, {.stop = stop.get_token()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), WaitEnd::cancelled);
  EXPECT_EQ(locks.size(), 0U);
}

TEST(KeyLockAll, LocksInOneOrderWhateverTheOrderOfItsArguments) {
  KeyLock locks;
  for (const auto& keys : {std::vector<std::string_view>{"a", "b"}, {"b", "a"}}) {
    ExclusiveGuard first = locks.lock("a");
    std::jthread caller([&] { const auto guard = locks.lock_all(keys); });
    wait_until_waiting(locks, "a", 1);
    EXPECT_TRUE(locks.try_lock("b")) << "locked before the key that every caller locks first";
    first.unlock();
  }
}

TEST(KeyLockAll, OppositeOrdersDoNotDeadlock) {
  constexpr std::size_t kAccounts = 4;
  const int rounds = stress_rounds(8000);
  KeyLock locks;
  std::vector<int> balance(kAccounts, 0);
  {
    std::vector<std::jthread> threads;
    for (const std::size_t step : {std::size_t{1}, kAccounts - 1}) {
      threads.emplace_back([&, step] {
        for (int i = 0; i < rounds; ++i) {
          const std::size_t from = static_cast<std::size_t>(i) * step % kAccounts;
          const std::size_t to = (from + step) % kAccounts;
          const std::string a = std::to_string(from);
          const std::string b = std::to_string(to);
          const auto guard = locks.lock_all({a, b});
          --balance[from];
          ++balance[to];
        }
      });
    }
  }
  EXPECT_EQ(std::accumulate(balance.begin(), balance.end(), 0), 0);
  EXPECT_EQ(locks.size(), 0U);
}

}  // namespace
}  // namespace holdfast::local
