#include <holdfast/local/key_lock.h>

#include <barrier>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>

#include <holdfast/local/testing_support.h>

namespace holdfast::local {
namespace {

using namespace std::string_literals;
using testing_support::kSanitized;
using testing_support::state_of;
using testing_support::wait_until_waiting;

TEST(KeyLock, AFreeKeyCanBeLockedInEveryWay) {
  KeyLock locks;
  EXPECT_TRUE(locks.lock("k").holds());
  EXPECT_TRUE(locks.lock_shared("k").holds());
  EXPECT_TRUE(locks.lock("k", {}).has_value());
  EXPECT_TRUE(locks.lock_shared("k", {}).has_value());
  EXPECT_TRUE(locks.try_lock("k").has_value());
  EXPECT_TRUE(locks.try_lock_shared("k").has_value());
}

TEST(KeyLock, AWriterKeepsOutWritersAndReaders) {
  KeyLock locks;
  ExclusiveGuard writer = locks.lock("k");
  EXPECT_FALSE(locks.try_lock("k"));
  EXPECT_FALSE(locks.try_lock_shared("k"));
  writer.unlock();
  EXPECT_TRUE(locks.try_lock("k"));
  EXPECT_TRUE(locks.try_lock_shared("k"));
}

TEST(KeyLock, AReaderKeepsOutWritersOnly) {
  KeyLock locks;
  const SharedGuard reader = locks.lock_shared("k");
  EXPECT_FALSE(locks.try_lock("k"));
  EXPECT_TRUE(locks.try_lock_shared("k"));
  EXPECT_FALSE(locks.try_lock("k"));
}

TEST(KeyLock, ManyReadersAreInsideTogether) {
  constexpr int kReaders = 12;
  KeyLock locks;
  std::barrier all_inside(kReaders);
  std::vector<std::jthread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      const SharedGuard guard = locks.lock_shared("k");
      all_inside.arrive_and_wait();
    });
  }
  readers.clear();
  EXPECT_EQ(locks.size(), 0U);
}

TEST(KeyLock, ABlockedWriterEntersWhenTheLastReaderLeaves) {
  KeyLock locks;
  int value = 0;  // only the lock protects it
  SharedGuard first = locks.lock_shared("k");
  SharedGuard second = locks.lock_shared("k");
  std::jthread writer([&] {
    const ExclusiveGuard guard = locks.lock("k");
    value = 1;
  });
  wait_until_waiting(locks, "k", 1);
  first.unlock();
  EXPECT_EQ(value, 0);
  second.unlock();
  writer.join();
  EXPECT_EQ(value, 1);
}

TEST(KeyLock, BlockedReadersAllEnterWhenTheWriterLeaves) {
  constexpr int kReaders = 4;
  KeyLock locks;
  int value = 0;
  ExclusiveGuard writer = locks.lock("k");
  std::barrier all_inside(kReaders);
  std::vector<std::jthread> readers;
  for (std::size_t i = 1; i <= kReaders; ++i) {
    readers.emplace_back([&] {
      const SharedGuard guard = locks.lock_shared("k");
      EXPECT_EQ(value, 1);
      all_inside.arrive_and_wait();
    });
    wait_until_waiting(locks, "k", i);
  }
  value = 1;
  writer.unlock();
}

TEST(KeyLock, DifferentThreadsHoldDifferentKeysAtTheSameTime) {
  constexpr int kThreads = 8;
  KeyLock locks;
  std::barrier all_inside(kThreads);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, key = "key " + std::to_string(i)] {
      const ExclusiveGuard guard = locks.lock(key);
      all_inside.arrive_and_wait();
      EXPECT_EQ(locks.size(), std::size_t{kThreads});
      all_inside.arrive_and_wait();
    });
  }
}

TEST(KeyLock, AKeyExistsWhileItIsHeldOrWaitedFor) {
  KeyLock locks;
  EXPECT_EQ(locks.size(), 0U);
  SharedGuard first = locks.lock_shared("k");
  SharedGuard second = locks.lock_shared("k");
  ExclusiveGuard other = locks.lock("other");
  EXPECT_EQ(locks.size(), 2U);
  other.unlock();
  EXPECT_EQ(locks.size(), 1U);

  std::jthread writer([&] { const ExclusiveGuard guard = locks.lock("k"); });
  wait_until_waiting(locks, "k", 1);
  first.unlock();
  EXPECT_EQ(locks.size(), 1U);
  second.unlock();
  writer.join();
  EXPECT_EQ(locks.size(), 0U);
}

TEST(KeyLock, ARefusedTryLeavesNothingBehind) {
  KeyLock locks;
  ExclusiveGuard held = locks.lock("k");
  EXPECT_FALSE(locks.try_lock("k"));
  EXPECT_FALSE(locks.try_lock_shared("k"));
  EXPECT_EQ(locks.size(), 1U);
  held.unlock();
  EXPECT_EQ(locks.size(), 0U);
}

// Returns the bytes from malloc in use; meaningless under a sanitizer, which has its own allocator.
std::size_t allocated() { return mallinfo2().uordblks; }

TEST(KeyLock, AHundredThousandKeysLeaveNothingBehind) {
  constexpr std::size_t kKeys = 100'000;
  KeyLock locks;
  std::vector<ExclusiveGuard> guards;
  guards.reserve(kKeys);
  const std::size_t before = allocated();
  std::size_t while_held = 0;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kKeys; ++i) {
      // Every other key is too long to fit inside its entry.
      const std::string prefix = i % 2 == 0 ? "k" : "a rather long key number ";
      guards.push_back(locks.lock(prefix + std::to_string(i)));
    }
    ASSERT_EQ(locks.size(), kKeys);
    while_held = allocated();
    guards.clear();
  }
  EXPECT_EQ(locks.size(), 0U);
  EXPECT_TRUE(locks.snapshot().empty());
  if (!kSanitized) {
    // A small, constant amount is kept for later keys.
    EXPECT_LT(allocated() - before, (while_held - before) / 8);
  }
}

TEST(KeyLock, ManyKeysInTurnNeedNoMoreMemoryThanAFew) {
  KeyLock locks;
  std::size_t after_a_few = 0;
  for (int i = 0; i < 100'000; ++i) {
    const ExclusiveGuard guard = locks.lock("a rather long key number " + std::to_string(i));
    ASSERT_TRUE(locks.try_lock_shared("k" + std::to_string(i)));
    if (i == 30'000) {
      after_a_few = allocated();
    }
  }
  EXPECT_EQ(locks.size(), 0U);
  if (!kSanitized) {
    EXPECT_LT(allocated(), after_a_few + 100'000);
  }
}

TEST(KeyLock, ShortKeysOfEveryLengthAreDifferentKeys) {
  KeyLock locks;
  std::vector<ExclusiveGuard> guards;
  for (std::size_t length = 0; length <= 48; ++length) {
    for (const char fill : {'x', '\0', '\xFF'}) {
      if (length == 0 && fill != 'x') {
        continue;
      }
      auto guard = locks.try_lock(std::string(length, fill));
      ASSERT_TRUE(guard) << length;
      guards.push_back(*std::move(guard));
      EXPECT_FALSE(locks.try_lock(std::string(length, fill)));
    }
  }
  EXPECT_EQ(locks.size(), guards.size());
}

TEST(KeyLock, KeysThatDifferInOneByteAreDifferentKeys) {
  for (const std::size_t length :
       {1U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 32U, 33U, 48U, 1000U, 100'000U}) {
    for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
      KeyLock locks;
      const std::string key(length, 'k');
      std::string other = key;
      other[at] = 'K';
      const ExclusiveGuard guard = locks.lock(key);
      const auto other_guard = locks.try_lock(other);
      EXPECT_TRUE(other_guard) << length << " bytes, different at " << at;
      EXPECT_FALSE(locks.try_lock(key));
      EXPECT_FALSE(locks.try_lock(other));
      EXPECT_EQ(locks.size(), 2U);
    }
  }
}

TEST(KeyLock, NulBytesCount) {
  KeyLock locks;
  std::vector<ExclusiveGuard> guards;
  for (const std::string& key :
       {""s, "\0"s, "\0\0"s, "a"s, "a\0"s, "a\0b"s, "a\0c"s, "\0a"s,
        "a long key with a NUL at its end\0"s, "a long key with a NUL at its end"s,
        "a long key\0with a NUL in its middle"s}) {
    auto guard = locks.try_lock(key);
    ASSERT_TRUE(guard) << ::testing::PrintToString(key);
    guards.push_back(*std::move(guard));
    EXPECT_EQ(state_of(locks, key), (KeyState{.key = key, .exclusive = true}));
  }
}

TEST(KeyLock, TheKeysBytesAreNotNeededAfterTheCall) {
  KeyLock locks;
  for (const std::size_t length : {5U, 500U}) {
    std::string key(length, 'k');
    const ExclusiveGuard guard = locks.lock(key);
    key.assign(length, 'x');
    EXPECT_FALSE(locks.try_lock(std::string(length, 'k')));
    EXPECT_TRUE(locks.try_lock(key));
  }
}

TEST(KeyLock, TheSnapshotShowsHoldersAndWaiters) {
  KeyLock locks;
  const ExclusiveGuard writer = locks.lock("written");
  SharedGuard reader = locks.lock_shared("read");
  SharedGuard another = locks.lock_shared("read");
  std::jthread waiting_writer([&] { const ExclusiveGuard guard = locks.lock("read"); });
  wait_until_waiting(locks, "read", 1);
  std::jthread waiting_reader([&] { const SharedGuard guard = locks.lock_shared("read"); });
  wait_until_waiting(locks, "read", 2);

  EXPECT_EQ(locks.snapshot().size(), 2U);
  EXPECT_EQ(state_of(locks, "written"), (KeyState{.key = "written", .exclusive = true}));
  EXPECT_EQ(state_of(locks, "read"),
            (KeyState{.key = "read", .readers = 2, .waiting_exclusive = 1, .waiting_shared = 1}));
  reader.unlock();
  another.unlock();
}

TEST(KeyLock, StatisticsCountEveryAcquisition) {
  KeyLock locks;
  EXPECT_EQ(locks.stats(), KeyLockStats{});
  const ExclusiveGuard writer = locks.lock("a");
  const SharedGuard reader = locks.lock_shared("b");
  EXPECT_TRUE(locks.try_lock("c"));
  EXPECT_TRUE(locks.try_lock_shared("b"));
  EXPECT_FALSE(locks.try_lock("a"));
  EXPECT_EQ(locks.stats(), KeyLockStats{.acquisitions = 4});
}

TEST(KeyLock, StatisticsAreExactForReadersInSlotsToo) {
  KeyLock locks;
  constexpr int kReads = 1000;
  for (int i = 0; i < kReads; ++i) {
    const SharedGuard guard = locks.lock_shared("k");
    const SharedGuard another = locks.lock_shared("k");
    EXPECT_EQ(locks.stats().acquisitions, 2U * (static_cast<unsigned>(i) + 1));
  }
  EXPECT_TRUE(locks.try_lock("k"));  // collects the slots
  EXPECT_EQ(locks.stats().acquisitions, 2U * kReads + 1);
}

}  // namespace
}  // namespace holdfast::local
