// KeyLock with a key that is read so often that its readers use slots (internal/reader_bias.h): a
// caller sees no difference.
#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/local/key_lock.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local {
namespace {

using testing_support::Guarded;
using testing_support::Line;
using testing_support::make_biased;
using testing_support::Names;
using testing_support::state_of;
using testing_support::stress_rounds;
using testing_support::wait_until;
using testing_support::wait_until_waiting;

class KeyLockReadOften : public ::testing::Test {
 protected:
  KeyLockReadOften() { make_biased(locks_, "k"); }
  void TearDown() override {
    EXPECT_EQ(locks_.size(), 0U);
    EXPECT_TRUE(locks_.snapshot().empty());
  }
  KeyLock locks_;
};

TEST_F(KeyLockReadOften, AReaderKeepsAWriterOut) {
  SharedGuard reader = locks_.lock_shared("k");
  EXPECT_FALSE(locks_.try_lock("k"));
  EXPECT_TRUE(locks_.try_lock_shared("k"));
  reader.unlock();
  EXPECT_TRUE(locks_.try_lock("k"));
}

TEST_F(KeyLockReadOften, AWriterKeepsReadersOut) {
  const ExclusiveGuard writer = locks_.lock("k");
  EXPECT_FALSE(locks_.try_lock_shared("k"));
}

TEST_F(KeyLockReadOften, AWriterWaitsForEveryReader) {
  int value = 0;  // only the lock protects it
  std::vector<SharedGuard> readers;
  readers.push_back(locks_.lock_shared("k"));
  std::jthread([&] { readers.push_back(locks_.lock_shared("k")); }).join();
  std::jthread([&] { readers.push_back(locks_.lock_shared("k")); }).join();
  std::jthread writer([&] {
    const ExclusiveGuard guard = locks_.lock("k");
    value = 1;
  });
  wait_until_waiting(locks_, "k", 1);
  while (!readers.empty()) {
    EXPECT_EQ(value, 0);
    EXPECT_EQ(state_of(locks_, "k"),
              (KeyState{.key = "k", .readers = readers.size(), .waiting_exclusive = 1}));
    readers.pop_back();
  }
  writer.join();
  EXPECT_EQ(value, 1);
}

TEST_F(KeyLockReadOften, AReaderQueuesBehindAWaitingWriter) {
  SharedGuard reader = locks_.lock_shared("k");
  Line line(locks_);
  line.writer("writer");
  EXPECT_FALSE(locks_.try_lock_shared("k"));
  line.reader("reader");
  reader.unlock();
  EXPECT_EQ(line.served(), (Names{"writer", "reader"}));
}

// A newcomer may be faster than the writer that was woken for the free key. Even if this read makes
// the key biased, readers must not pass the writer.
TEST(KeyLockReadAlmostOften, AReaderThatPassesAWriterDoesNotOpenTheSlots) {
  for (int reads = 250; reads < 260; ++reads) {
    KeyLock locks;
    for (int i = 0; i < reads; ++i) {
      const SharedGuard guard = locks.lock_shared("k");
    }
    SharedGuard held = locks.lock_shared("k");
    std::atomic<bool> inside = false;
    std::atomic<bool> done = false;
    std::jthread writer([&] {
      const ExclusiveGuard guard = locks.lock("k");
      inside = true;
      wait_until([&] { return done.load(); });
    });
    wait_until_waiting(locks, "k", 1);
    held.unlock();
    std::optional<SharedGuard> faster = locks.try_lock_shared("k");
    faster.reset();
    wait_until([&] { return inside.load(); });
    EXPECT_FALSE(locks.try_lock_shared("k")) << reads;
    done = true;
  }
}

TEST_F(KeyLockReadOften, AGuardStaysValidAfterTheBiasEndsAndStartsAgain) {
  SharedGuard reader = locks_.lock_shared("k");
  EXPECT_FALSE(locks_.try_lock("k"));
  make_biased(locks_, "k");
  const SharedGuard another = locks_.lock_shared("k");
  EXPECT_EQ(state_of(locks_, "k"), (KeyState{.key = "k", .readers = 2}));
  EXPECT_FALSE(locks_.try_lock("k"));
  reader.unlock();
  EXPECT_EQ(state_of(locks_, "k"), (KeyState{.key = "k", .readers = 1}));
  EXPECT_FALSE(locks_.try_lock("k"));
}

TEST_F(KeyLockReadOften, AGuardStaysValidWhileEveryOtherKeyIsBiased) {
  // More keys than the table has shards: some of them share the shard of "k", others its slot.
  const SharedGuard reader = locks_.lock_shared("k");
  for (int i = 0; i < 200; ++i) {
    make_biased(locks_, "other " + std::to_string(i));
  }
  EXPECT_EQ(state_of(locks_, "k"), (KeyState{.key = "k", .readers = 1}));
  EXPECT_FALSE(locks_.try_lock("k"));
}

TEST_F(KeyLockReadOften, AGuardThatAWriterAdoptedIsReleasedWithoutADataRace) {
  // Relaxed, so that nothing but the lock orders the two threads.
  constexpr auto kRelaxed = std::memory_order_relaxed;
  std::atomic<int> step = 0;
  std::jthread writer([&] {
    wait_until([&] { return step.load(kRelaxed) == 1; });
    EXPECT_FALSE(locks_.try_lock("k"));
    step.store(2, kRelaxed);
  });
  SharedGuard reader = locks_.lock_shared("k");
  step.store(1, kRelaxed);
  wait_until([&] { return step.load(kRelaxed) == 2; });
  reader.unlock();
}

TEST_F(KeyLockReadOften, TheOnlyReaderBecomesTheWriter) {
  SharedGuard reader = locks_.lock_shared("k");
  std::optional<ExclusiveGuard> writer = reader.try_upgrade();
  ASSERT_TRUE(writer);
  EXPECT_FALSE(reader.holds());
  EXPECT_EQ(state_of(locks_, "k"), (KeyState{.key = "k", .exclusive = true}));
  EXPECT_FALSE(locks_.try_lock_shared("k"));
  const SharedGuard again = (*std::move(writer)).downgrade();
  EXPECT_EQ(state_of(locks_, "k"), (KeyState{.key = "k", .readers = 1}));
}

TEST_F(KeyLockReadOften, OneOfTwoReadersStaysAReader) {
  // The second reader of one thread has no slot, because the first uses it.
  SharedGuard first = locks_.lock_shared("k");
  SharedGuard second = locks_.lock_shared("k");
  EXPECT_FALSE(first.try_upgrade());
  EXPECT_FALSE(second.try_upgrade());
  EXPECT_EQ(state_of(locks_, "k"), (KeyState{.key = "k", .readers = 2}));
  first.unlock();
  EXPECT_TRUE(second.try_upgrade());
}

TEST_F(KeyLockReadOften, AReaderWithoutASlotSeesTheReadersInSlots) {
  SharedGuard in_slot = locks_.lock_shared("k");
  SharedGuard counted = locks_.lock_shared("k");
  EXPECT_FALSE(counted.try_upgrade());
  in_slot.unlock();
  EXPECT_TRUE(counted.try_upgrade());
}

TEST_F(KeyLockReadOften, TwoReadersInSlotsDoNotBothBecomeTheWriter) {
  SharedGuard first = locks_.lock_shared("k");
  SharedGuard second;
  std::jthread([&] { second = locks_.lock_shared("k"); }).join();
  EXPECT_FALSE(first.try_upgrade());
  EXPECT_FALSE(second.try_upgrade());
  second.unlock();
  EXPECT_TRUE(first.try_upgrade());
}

TEST_F(KeyLockReadOften, AnUpgradeGoesAheadOfAWaitingWriter) {
  SharedGuard reader = locks_.lock_shared("k");
  Line line(locks_);
  line.writer("writer");
  std::optional<ExclusiveGuard> upgraded = reader.try_upgrade();
  EXPECT_TRUE(upgraded);
  EXPECT_FALSE(line.has_served("writer"));
  upgraded.reset();
  EXPECT_EQ(line.served(), (Names{"writer"}));
}

TEST_F(KeyLockReadOften, TwoGuardsOfOneThreadAreTwoReaders) {
  SharedGuard first = locks_.lock_shared("k");
  SharedGuard second = locks_.lock_shared("k");
  EXPECT_EQ(locks_.size(), 1U);
  EXPECT_EQ(state_of(locks_, "k"), (KeyState{.key = "k", .readers = 2}));
  first.unlock();
  EXPECT_FALSE(locks_.try_lock("k"));
  second.unlock();
  EXPECT_TRUE(locks_.try_lock("k"));
}

TEST_F(KeyLockReadOften, MoreThreadsThanThereAreSlotsReadTogether) {
  constexpr std::size_t kThreads = 80;
  std::barrier<> step(kThreads + 1);
  std::vector<std::jthread> readers;
  for (std::size_t i = 0; i < kThreads; ++i) {
    readers.emplace_back([&] {
      const SharedGuard guard = locks_.lock_shared("k");
      step.arrive_and_wait();
      step.arrive_and_wait();
    });
  }
  step.arrive_and_wait();
  EXPECT_EQ(state_of(locks_, "k"), (KeyState{.key = "k", .readers = kThreads}));
  EXPECT_FALSE(locks_.try_lock("k"));
  EXPECT_EQ(state_of(locks_, "k"), (KeyState{.key = "k", .readers = kThreads}));
  EXPECT_EQ(locks_.stats().acquisitions, 600 + kThreads);
  step.arrive_and_wait();
  readers.clear();
  EXPECT_TRUE(locks_.try_lock("k"));
}

// Almost all operations are reads, so that the key becomes biased again and again, and a writer or
// an upgrading reader ends the bias again and again.
TEST_F(KeyLockReadOften, StressInAndOutOfTheBias) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kReadsPerWrite = 300;
  const int rounds = stress_rounds(400);
  Guarded guarded("k");
  // One for each thread: an atomic that all of them touch would hide from a sanitizer what the
  // lock fails to order.
  std::array<std::uint64_t, kThreads> written{};
  std::array<std::uint64_t, kThreads> inconsistent{};
  const std::uint64_t before = locks_.stats().acquisitions;
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < rounds; ++round) {
          for (std::size_t i = 0; i < kReadsPerWrite; ++i) {
            SharedGuard reader = locks_.lock_shared("k");
            inconsistent[t] += guarded.is_consistent() ? 0U : 1U;
            if (std::optional<ExclusiveGuard> upgraded;
                i == 100 * t && (upgraded = reader.try_upgrade())) {
              guarded.write();
              ++written[t];
            }
          }
          const ExclusiveGuard writer = locks_.lock("k");
          guarded.write();
          ++written[t];
        }
      });
    }
  }
  EXPECT_EQ(inconsistent, (std::array<std::uint64_t, kThreads>{}));
  EXPECT_EQ(guarded.writes(), std::accumulate(written.begin(), written.end(), std::uint64_t{0}));
  EXPECT_EQ(locks_.stats().acquisitions - before,
            kThreads * static_cast<std::size_t>(rounds) * (kReadsPerWrite + 1));
}

}  // namespace
}  // namespace holdfast::local
