#include <holdfast/local/internal/reader_bias.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/local/internal/key_shard.h>
#include <holdfast/local/internal/key_table.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local::internal {
namespace {

using testing_support::kSanitized;
using testing_support::state_of;
using testing_support::stress_rounds;

constexpr std::uint64_t kSeed = 0x0123456789ABCDEFULL;
constexpr auto kNow = std::memory_order_seq_cst;

TEST(ReaderBias, MatchesItsKeyAloneAtEveryLength) {
  ReaderBias bias;
  for (std::size_t length = 0; length <= ReaderBias::kMaxKey; ++length) {
    const std::string text(length, 'k');
    bias.set(KeyProbe(text, kSeed), 1);
    EXPECT_TRUE(bias.matches(KeyProbe(std::string(text), kSeed)));
    EXPECT_EQ(bias.key(), text);
    EXPECT_FALSE(bias.matches(KeyProbe(text + 'k', kSeed)));
    EXPECT_FALSE(bias.matches(KeyProbe(text + '\0', kSeed)));
    for (std::size_t at = 0; at < length; ++at) {
      std::string other = text;
      other[at] = 'K';
      EXPECT_FALSE(bias.matches(KeyProbe(other, kSeed))) << length << ", different at " << at;
    }
  }
}

TEST(ReaderBias, CarriesItsTagUntilCleared) {
  ReaderBias bias;
  EXPECT_EQ(bias.tag(kNow), 0U);
  bias.set(KeyProbe("k", kSeed), 77);
  EXPECT_EQ(bias.tag(kNow), 77U);
  bias.clear();
  EXPECT_EQ(bias.tag(kNow), 0U);
  bias.restore(77);
  EXPECT_EQ(bias.tag(kNow), 77U);
  EXPECT_EQ(bias.key(), "k");
}

TEST(ReaderSlots, AThreadHasItsOwnSlotThatIsVisited) {
  ReaderSlots slots;
  const ReaderSlot* const mine = &slots.mine(3);
  EXPECT_EQ(&slots.mine(3), mine);
  EXPECT_NE(&slots.mine(4), mine);
  const ReaderSlot* theirs = nullptr;
  std::jthread([&] { theirs = &slots.mine(3); }).join();
  EXPECT_NE(theirs, mine);

  std::vector<const ReaderSlot*> visited;
  slots.for_each(3, [&](const ReaderSlot& slot) { visited.push_back(&slot); });
  EXPECT_EQ(visited.size(), ReaderSlots::kRows);
  EXPECT_EQ(std::ranges::count(visited, mine), 1);
  EXPECT_EQ(std::ranges::count(visited, theirs), 1);
}

class BiasedKey : public ::testing::Test {
 protected:
  // A key of the same shard as `key`.
  std::string neighbour_of(const std::string& key) const {
    const std::size_t shard = shard_index(table_.probe(key).tag());
    for (int i = 0;; ++i) {
      std::string other = "neighbour " + std::to_string(i);
      if (shard_index(table_.probe(other).tag()) == shard) {
        return other;
      }
    }
  }

  KeyEntry* take(const std::string& key, Mode mode) {
    return table_.try_acquire(table_.probe(key), mode);
  }
  void read_often(const std::string& key, int times = 600) {
    for (int i = 0; i < times; ++i) {
      table_.release(take(key, Mode::shared), Mode::shared);
    }
  }
  ReaderSlot* take_slot(const std::string& key) {
    return table_.try_acquire_slot(table_.probe(key));
  }
  bool is_biased(const std::string& key) {
    ReaderSlot* const slot = take_slot(key);
    if (slot != nullptr) {
      table_.release_slot(*slot);
    }
    return slot != nullptr;
  }
  bool try_write(const std::string& key) {
    KeyEntry* const entry = take(key, Mode::exclusive);
    if (entry != nullptr) {
      table_.release(entry, Mode::exclusive);
    }
    return entry != nullptr;
  }
  void TearDown() override { EXPECT_EQ(table_.size(), 0U); }

  KeyTable table_;
};

TEST_F(BiasedKey, IsOneThatWasReadOften) {
  EXPECT_FALSE(is_biased("k"));
  read_often("k", 100);
  EXPECT_FALSE(is_biased("k"));
  read_often("k");
  EXPECT_TRUE(is_biased("k"));
  EXPECT_FALSE(is_biased(neighbour_of("k")));
}

TEST_F(BiasedKey, IsNotOneThatIsWrittenNowAndThen) {
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
  // Now the reader is counted in an entry, and the slot knows it.
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
    if (shard_index(table_.probe(key).tag()) == keys.size() * ReaderSlots::kSlotsPerRow) {
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

TEST_F(BiasedKey, GivesWayToAnotherOfItsShardThatIsReadMore) {
  const std::string other = neighbour_of("k");
  read_often("k");
  read_often(other);
  EXPECT_TRUE(is_biased(other));
  EXPECT_FALSE(is_biased("k"));
}

TEST_F(BiasedKey, DoesNotGiveWayWhileItIsRead) {
  const std::string other = neighbour_of("k");
  read_often("k");
  ReaderSlot* const slot = take_slot("k");
  read_often(other);
  EXPECT_FALSE(is_biased(other));
  EXPECT_FALSE(try_write("k"));
  read_often(other);
  EXPECT_TRUE(is_biased(other));
  table_.release_slot(*slot);
  EXPECT_TRUE(is_biased(other));
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

// Two keys take the bias of their shard from each other, with a writer now and then: whoever reads
// sees no half-done write.
TEST_F(BiasedKey, StressOfTwoInOneShard) {
  struct Guarded {
    std::string key;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
  };
  Guarded guarded[2] = {{"k"}, {neighbour_of("k")}};
  std::atomic<std::uint64_t> in_slots = 0;
  const int rounds = stress_rounds(160);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < rounds; ++round) {
          Guarded& one = guarded[(round + t / 2) % 2];
          const KeyProbe probe = table_.probe(one.key);
          for (int i = 0; i < 600; ++i) {
            ReaderSlot* const slot = table_.try_acquire_slot(probe);
            KeyEntry* const entry =
                slot == nullptr ? *table_.acquire(probe, Mode::shared, {}) : nullptr;
            EXPECT_EQ(one.a, one.b);
            slot != nullptr ? table_.release_slot(*slot) : table_.release(entry, Mode::shared);
            in_slots += slot != nullptr ? 1U : 0U;
          }
          KeyEntry* const entry = *table_.acquire(probe, Mode::exclusive, {});
          ++one.a;
          ++one.b;
          table_.release(entry, Mode::exclusive);
        }
      });
    }
  }
  EXPECT_EQ(guarded[0].a + guarded[1].a, static_cast<unsigned>(3 * rounds));
  EXPECT_GT(in_slots, 0U);
  EXPECT_TRUE(table_.snapshot().empty());
  EXPECT_EQ(table_.stats().acquisitions, static_cast<unsigned>(3 * rounds * 601));
}

}  // namespace
}  // namespace holdfast::local::internal
