// Readers in slots and writers that adopt them: see key_table_bias.cc.
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/local/internal/key_table.h>
#include <holdfast/local/internal/reader_bias.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local::internal {
namespace {

using testing_support::Guarded;
using testing_support::kSanitized;
using testing_support::state_of;
using testing_support::stress_rounds;

class BiasedKey : public ::testing::Test {
 protected:
  // Returns a key of the same shard as `key`.
  std::string neighbour_of(const std::string& key) const {
    const std::size_t shard = table_.shard_index(table_.probe(key).tag());
    for (int i = 0;; ++i) {
      std::string other = "neighbour " + std::to_string(i);
      if (table_.shard_index(table_.probe(other).tag()) == shard) {
        return other;
      }
    }
  }

  bool take(const std::string& key, Mode mode) {
    return table_.try_acquire(table_.probe(key), mode) != nullptr;
  }
  void read_often(const std::string& key, int times = 600) {
    for (int i = 0; i < times; ++i) {
      take(key, Mode::shared);
      table_.release(table_.probe(key), Mode::shared);
    }
  }
  ReaderSlot* take_slot(const std::string& key) {
    return table_.try_acquire_slot(table_.probe(key));
  }
  // Tests with two threads: one of them may have the slot that this thread holds.
  bool is_biased(const std::string& key) {
    bool biased = false;
    for (int i = 0; i < 2; ++i) {
      std::jthread([&] {
        if (ReaderSlot* const slot = take_slot(key)) {
          table_.release_slot(*slot);
          biased = true;
        }
      }).join();
    }
    return biased;
  }
  bool try_write(const std::string& key) {
    if (!take(key, Mode::exclusive)) {
      return false;
    }
    table_.release(table_.probe(key), Mode::exclusive);
    return true;
  }
  void TearDown() override { EXPECT_EQ(table_.size(), 0U); }

  KeyTable table_;
};

TEST_F(BiasedKey, IsOneThatWasReadOften) {
  read_often("k", 100);
  EXPECT_FALSE(is_biased("k"));
  read_often("k");
  EXPECT_TRUE(is_biased("k"));
  EXPECT_FALSE(is_biased(neighbour_of("k")));
}

TEST_F(BiasedKey, IsNotOneThatIsWrittenOccasionally) {
  for (int i = 0; i < 100; ++i) {
    read_often("k", 20);
    EXPECT_TRUE(try_write("k"));
  }
  EXPECT_FALSE(is_biased("k"));
}

TEST_F(BiasedKey, MayHaveAnyLengthThatFits) {
  const std::string longest(ReaderBias::kMaxKey, 'k');
  const std::string too_long = longest + 'k';
  read_often("");
  EXPECT_TRUE(is_biased(""));
  read_often(longest);
  EXPECT_TRUE(is_biased(longest));
  read_often(too_long);
  EXPECT_FALSE(is_biased(too_long));
}

TEST_F(BiasedKey, StopsBeingOneWhenItIsWritten) {
  read_often("k");
  EXPECT_TRUE(try_write("k"));
  EXPECT_FALSE(is_biased("k"));
  read_often("k");
  EXPECT_TRUE(is_biased("k"));
}

TEST_F(BiasedKey, IsHeldByTheReaderInTheSlot) {
  read_often("k");
  ReaderSlot* const slot = take_slot("k");
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(table_.size(), 1U);
  EXPECT_EQ(state_of(table_, "k"), (KeyState{.key = "k", .readers = 1}));
  EXPECT_FALSE(try_write("k"));
  // Now the reader is counted in an entry, and the slot refers to it.
  EXPECT_EQ(state_of(table_, "k"), (KeyState{.key = "k", .readers = 1}));
  EXPECT_FALSE(try_write("k"));
  table_.release_slot(*slot);
  EXPECT_TRUE(try_write("k"));
}

TEST_F(BiasedKey, LeavesTheSlotOfOneKeyToAnother) {
  // With eight slots in a row, 64 shards share them.
  std::vector<std::string> keys;
  for (int i = 0; keys.size() < 3 && i < 10'000; ++i) {
    const std::string key = "key " + std::to_string(i);
    if (table_.shard_index(table_.probe(key).tag()) == keys.size() * ReaderSlots::kSlotsPerRow) {
      read_often(key);
      keys.push_back(key);
    }
  }
  ReaderSlot* const first = take_slot(keys[0]);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(take_slot(keys[1]), nullptr) << "taken; such a reader is counted in the entry";
  EXPECT_TRUE(try_write(keys[1]));
  EXPECT_FALSE(try_write(keys[0]));
  table_.release_slot(*first);
  EXPECT_TRUE(is_biased(keys[2]));
  EXPECT_TRUE(try_write(keys[0]));
}

TEST_F(BiasedKey, IsReplacedByAKeyOfItsShardThatIsReadMore) {
  const std::string other = neighbour_of("k");
  read_often("k");
  read_often(other);
  EXPECT_TRUE(is_biased(other));
  EXPECT_FALSE(is_biased("k"));
}

TEST_F(BiasedKey, IsNotReplacedWhileItIsRead) {
  const std::string other = neighbour_of("k");
  read_often("k");
  ReaderSlot* const slot = take_slot("k");
  read_often(other);
  EXPECT_FALSE(is_biased(other));
  EXPECT_FALSE(try_write("k"));
  read_often(other);
  EXPECT_TRUE(is_biased(other));
  table_.release_slot(*slot);
}

TEST_F(BiasedKey, CountsReadsExactlyAcrossTheEndOfASlotsCounter) {
  if (kSanitized) {
    GTEST_SKIP() << "sixteen million reads take too long";
  }
  read_often("k");
  const std::uint64_t before = table_.stats().acquisitions;
  constexpr std::uint64_t kReads = kSlotCountMask + 10;
  const KeyProbe probe = table_.probe("k");
  for (std::uint64_t i = 0; i < kReads; ++i) {
    ReaderSlot* const slot = table_.try_acquire_slot(probe);
    ASSERT_NE(slot, nullptr);
    table_.release_slot(*slot);
  }
  EXPECT_EQ(table_.stats().acquisitions, before + kReads);
}

// Two keys take the bias of their shard from each other, with occasional writers: no reader sees a
// half-done write.
TEST_F(BiasedKey, StressOfTwoInOneShard) {
  Guarded guarded[2] = {Guarded("k"), Guarded(neighbour_of("k"))};
  // One for each thread, and nothing else in common that would order them.
  std::array<std::uint64_t, 3> in_slots{};
  std::array<std::uint64_t, 3> inconsistent{};
  const int rounds = stress_rounds(160);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < rounds; ++round) {
          Guarded& one = guarded[(static_cast<std::size_t>(round) + t / 2) % 2];
          const KeyProbe probe = table_.probe(one.key);
          for (int i = 0; i < 600; ++i) {
            if (ReaderSlot* const slot = table_.try_acquire_slot(probe)) {
              ++in_slots[t];
              inconsistent[t] += one.is_consistent() ? 0U : 1U;
              table_.release_slot(*slot);
            } else {
              EXPECT_TRUE(table_.acquire(probe, Mode::shared, {}));
              inconsistent[t] += one.is_consistent() ? 0U : 1U;
              table_.release(probe, Mode::shared);
            }
          }
          EXPECT_TRUE(table_.acquire(probe, Mode::exclusive, {}));
          one.write();
          table_.release(probe, Mode::exclusive);
        }
      });
    }
  }
  EXPECT_EQ(inconsistent, (std::array<std::uint64_t, 3>{}));
  EXPECT_NE(in_slots, (std::array<std::uint64_t, 3>{}));
  EXPECT_EQ(guarded[0].writes() + guarded[1].writes(), static_cast<unsigned>(3 * rounds));
  EXPECT_TRUE(table_.snapshot().empty());
  EXPECT_EQ(table_.stats().acquisitions, static_cast<unsigned>(3 * rounds * 601));
}

// Readers that acquire their slots all the time, so that some of them are between two of their
// steps, or preempted there, whenever the writer ends the bias.
TEST_F(BiasedKey, StressOfReadersThatComeWhileItEnds) {
  constexpr std::size_t kReaders = 4;
  Guarded guarded("k");
  const KeyProbe probe = table_.probe("k");
  std::array<std::uint64_t, kReaders> inconsistent{};
  std::atomic<bool> done = false;
  std::vector<std::jthread> readers;
  for (std::size_t t = 0; t < kReaders; ++t) {
    readers.emplace_back([&, t] {
      while (!done.load(std::memory_order_relaxed)) {
        if (ReaderSlot* const slot = table_.try_acquire_slot(probe)) {
          for (int i = 0; i < 10; ++i) {
            inconsistent[t] += guarded.is_consistent() ? 0U : 1U;
          }
          table_.release_slot(*slot);
        }
      }
    });
  }
  for (int round = 0; round < stress_rounds(3200); ++round) {
    read_often("k", 300);
    EXPECT_TRUE(table_.acquire(probe, Mode::exclusive, {}));
    for (int i = 0; i < 300; ++i) {
      guarded.write();
    }
    table_.release(probe, Mode::exclusive);
  }
  done.store(true, std::memory_order_relaxed);
  readers.clear();
  EXPECT_EQ(inconsistent, (std::array<std::uint64_t, kReaders>{}));
}

}  // namespace
}  // namespace holdfast::local::internal
