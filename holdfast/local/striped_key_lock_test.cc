#include <holdfast/local/striped_key_lock.h>

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/error.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;
using testing_support::wait_until;

// Two different keys of one stripe, and one key of another stripe.
struct Keys {
  std::string first = "key:0";
  std::string collides;
  std::string apart;
};

Keys find_keys(const StripedKeyLock& locks) {
  Keys keys;
  for (int i = 1; keys.collides.empty() || keys.apart.empty(); ++i) {
    const std::string key = "key:" + std::to_string(i);
    (locks.stripe_of(key) == locks.stripe_of(keys.first) ? keys.collides : keys.apart) = key;
  }
  return keys;
}

TEST(StripedKeyLock, AKeyExcludesItself) {
  StripedKeyLock locks;
  const auto guard = locks.lock("a");
  EXPECT_FALSE(locks.try_lock("a"));
  EXPECT_FALSE(locks.try_lock_shared("a"));
  EXPECT_FALSE(locks.try_lock_for("a", 1ms));
}

TEST(StripedKeyLock, ReadersShareAKeyAndExcludeAWriter) {
  StripedKeyLock locks;
  const auto one = locks.lock_shared("a");
  const auto two = locks.try_lock_shared("a");
  EXPECT_TRUE(two);
  EXPECT_TRUE(locks.try_lock_shared_for("a", 1ms));
  EXPECT_FALSE(locks.try_lock("a"));
}

TEST(StripedKeyLock, KeysOfOneStripeExcludeEachOtherAndOthersDoNot) {
  StripedKeyLock locks(8);
  const Keys keys = find_keys(locks);
  const auto guard = locks.lock(keys.first);
  EXPECT_FALSE(locks.try_lock(keys.collides));
  EXPECT_TRUE(locks.try_lock(keys.apart));
}

TEST(StripedKeyLock, TheNumberOfStripesIsRoundedUpToAPowerOfTwo) {
  EXPECT_EQ(StripedKeyLock(1).stripes(), 1U);
  EXPECT_EQ(StripedKeyLock(100).stripes(), 128U);
  EXPECT_EQ(StripedKeyLock().stripes(), 1024U);
}

TEST(StripedKeyLock, AnImpossibleNumberOfStripesIsATypedError) {
  for (const std::size_t stripes : {std::size_t{0}, (std::size_t{1} << 20U) + 1, ~std::size_t{0}}) {
    try {
      const StripedKeyLock locks(stripes);
      FAIL() << "made a lock of " << stripes << " stripes";
    } catch (const base::Exception& error) {
      EXPECT_EQ(error.code(), base::ErrorCode::invalid_argument);
    }
  }
}

TEST(StripedKeyLock, SeveralKeysAreLockedOnceEachEvenIfTheyCollideOrRepeat) {
  StripedKeyLock locks(8);
  const Keys keys = find_keys(locks);
  {
    const auto guard = locks.lock_all({keys.first, keys.collides, keys.first, keys.apart});
    EXPECT_EQ(guard.size(), 2U);
    EXPECT_FALSE(locks.try_lock(keys.collides));
    EXPECT_FALSE(locks.try_lock(keys.apart));
  }
  EXPECT_TRUE(locks.try_lock(keys.first));
  EXPECT_TRUE(locks.lock_all({}).empty());
}

TEST(StripedKeyLock, CallersThatLockManyKeysInAnyOrderNeverDeadlock) {
  StripedKeyLock locks(4);
  constexpr int kRounds = 2000;
  constexpr int kKeys = 8;
  std::vector<int> balance(kKeys, 0);
  const auto transfer = [&](int step) {
    for (int i = 0; i < kRounds; ++i) {
      const int from = (i * step) % kKeys;
      const int to = (i * step + step) % kKeys;
      const auto guard =
          locks.lock_all({"account:" + std::to_string(from), "account:" + std::to_string(to)});
      --balance[static_cast<std::size_t>(from)];
      ++balance[static_cast<std::size_t>(to)];
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const int step : {1, 7, 3, 5}) {
      threads.emplace_back(transfer, step);
    }
  }
  int total = 0;
  for (const int value : balance) {
    total += value;
  }
  EXPECT_EQ(total, 0);
}

TEST(StripedKeyLock, CountsWhatItDid) {
  StripedKeyLock locks(8);
  const Keys keys = find_keys(locks);
  {
    const auto guard = locks.lock(keys.first);
    const auto reader = locks.lock_shared(keys.apart);
    EXPECT_FALSE(locks.try_lock(keys.collides));
    EXPECT_FALSE(locks.try_lock_for(keys.first, 1ms));
    EXPECT_FALSE(locks.try_lock_shared_for(keys.first, 1ms));
  }
  EXPECT_EQ(locks.stats(), (KeyLockStats{.acquisitions = 2, .timed_out = 2}));
  {
    auto held = locks.lock(keys.first);
    std::jthread waiter([&] { const auto guard = locks.lock(keys.first); });
    wait_until([&] { return locks.snapshot().front().waiting_exclusive == 1; });
    held.unlock();
  }
  const KeyLockStats stats = locks.stats();
  EXPECT_EQ(stats.acquisitions, 4U);
  EXPECT_EQ(stats.contended, 1U);
  EXPECT_GT(stats.wait_time, 0ns);
  EXPECT_EQ(stats.longest_wait, stats.wait_time);
}

TEST(StripedKeyLock, ShowsTheStripesInUseAndTheirWaiters) {
  StripedKeyLock locks(8);
  const Keys keys = find_keys(locks);
  EXPECT_TRUE(locks.snapshot().empty());
  {
    auto one = locks.lock_shared(keys.first);
    const auto two = locks.lock_shared(keys.collides);
    EXPECT_EQ(locks.snapshot(),
              (std::vector{StripeState{.stripe = locks.stripe_of(keys.first), .readers = 2}}));
    one.unlock();
    EXPECT_EQ(locks.snapshot().front().readers, 1U);
  }
  {
    auto writer = locks.lock(keys.first);
    std::jthread reader([&] { const auto guard = locks.lock_shared(keys.first); });
    wait_until([&] { return locks.snapshot().front().waiting_shared == 1; });
    EXPECT_EQ(locks.snapshot(),
              (std::vector{StripeState{
                  .stripe = locks.stripe_of(keys.first), .exclusive = true, .waiting_shared = 1}}));
    writer.unlock();
  }
  EXPECT_TRUE(locks.snapshot().empty());
}

TEST(StripedKeyLock, AnUnprotectedCounterEndsExact) {
  StripedKeyLock locks;
  constexpr int kThreads = 4;
  constexpr int kRounds = 5000;
  int counter = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          const auto guard = locks.lock("counter");
          ++counter;
        }
      });
    }
  }
  EXPECT_EQ(counter, kThreads * kRounds);
}

}  // namespace
}  // namespace holdfast::local
