#include <holdfast/local/key_lock_options.h>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>

#include <holdfast/base/error.h>
#include <holdfast/local/key_lock.h>
#include <holdfast/local/testing_support.h>
#include <holdfast/local/typed_key_lock.h>

namespace holdfast::local {
namespace {

using testing_support::kSanitized;
using testing_support::make_biased;
using testing_support::state_of;
using testing_support::stress_rounds;

class KeyLockWithShards : public ::testing::TestWithParam<std::size_t> {
 protected:
  KeyLock locks_{{.shards = GetParam()}};
};

TEST_P(KeyLockWithShards, HoldsCountsAndListsManyKeysAndLeavesNothingBehind) {
  constexpr std::size_t kKeys = 3000;
  std::vector<ExclusiveGuard> guards;
  for (std::size_t i = 0; i < kKeys; ++i) {
    guards.push_back(locks_.lock("key " + std::to_string(i)));
  }
  EXPECT_EQ(locks_.size(), kKeys);
  EXPECT_EQ(locks_.snapshot().size(), kKeys);
  EXPECT_EQ(locks_.stats().acquisitions, kKeys);
  for (std::size_t i = 0; i < kKeys; ++i) {
    ASSERT_FALSE(locks_.try_lock("key " + std::to_string(i)));
  }
  guards.clear();
  EXPECT_EQ(locks_.size(), 0U);
}

TEST_P(KeyLockWithShards, AnUnprotectedCounterOfEachKeyEndsExact) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kKeys = 3;
  const int rounds = stress_rounds(20'000);
  std::vector<int> counters(kKeys, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < rounds; ++i) {
          const std::size_t key = (static_cast<std::size_t>(i) + thread) % kKeys;
          const ExclusiveGuard guard = locks_.lock(std::to_string(key));
          ++counters[key];
        }
      });
    }
  }
  int sum = 0;
  for (const int counter : counters) {
    sum += counter;
  }
  EXPECT_EQ(sum, rounds * static_cast<int>(kThreads));
  EXPECT_EQ(locks_.size(), 0U);
}

TEST_P(KeyLockWithShards, AWriterSeesTheReadersOfABiasedKey) {
  for (const std::string key : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    make_biased(locks_, key);
    SharedGuard reader = locks_.lock_shared(key);
    EXPECT_EQ(state_of(locks_, key), (KeyState{.key = key, .readers = 1}));
    EXPECT_FALSE(locks_.try_lock(key));
    reader.unlock();
    EXPECT_TRUE(locks_.try_lock(key));
  }
}

INSTANTIATE_TEST_SUITE_P(OfAnyNumber, KeyLockWithShards,
                         ::testing::Values(0, 1, 2, 100, 4096, 65'536));

TEST(KeyLockOptions, AreRefusedOutOfTheirRange) {
  const auto code = [](const KeyLockOptions& options) {
    try {
      const KeyLock locks(options);
    } catch (const base::Exception& refused) {
      return refused.error().code;
    }
    return base::ErrorCode::internal;
  };
  EXPECT_EQ(code({.shards = 65'537}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({.initial_entries = ~std::size_t{0}}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({.idle_entries = ~std::size_t{0}}), base::ErrorCode::invalid_argument);
}

TEST(KeyLockOptions, ATypedLockHasThemToo) {
  TypedKeyLock<int> locks({.shards = 1});
  const ExclusiveGuard guard = locks.lock(1);
  EXPECT_FALSE(locks.try_lock(1));
}

// Returns how much memory is allocated after `keys` keys were held and released.
std::size_t left_by(KeyLock& locks, std::size_t keys) {
  {
    std::vector<ExclusiveGuard> guards;
    for (std::size_t i = 0; i < keys; ++i) {
      guards.push_back(locks.lock("key " + std::to_string(i)));
    }
  }
  return mallinfo2().uordblks;
}

TEST(KeyLockOptions, IdleEntriesAreKeptForNewKeysAndTheRestIsFreed) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer has an allocator of its own";
  }
  constexpr std::size_t kKeys = 20'000;
  constexpr std::size_t kBytes = 32;  // of one key
  const auto kept = [&](std::size_t idle) {
    KeyLock locks({.shards = 4, .idle_entries = idle});
    const std::size_t before = mallinfo2().uordblks;
    return left_by(locks, kKeys) - before;
  };
  EXPECT_LT(kept(0), kKeys * kBytes / 10);
  EXPECT_LT(kept(1), kKeys * kBytes / 10);
  EXPECT_GT(kept(kKeys), kKeys * kBytes);
}

TEST(KeyLockOptions, InitialEntriesAreAllocatedWithTheLock) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer has an allocator of its own";
  }
  constexpr std::size_t kKeys = 20'000;
  const std::size_t before = mallinfo2().uordblks;
  const KeyLock locks({.shards = 4, .initial_entries = kKeys});
  EXPECT_GT(mallinfo2().uordblks - before, kKeys * 32);
}

}  // namespace
}  // namespace holdfast::local
