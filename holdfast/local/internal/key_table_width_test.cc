// Shards that become wide: see key_shard.h.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/local/internal/key_shard.h>
#include <holdfast/local/internal/key_table.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local::internal {
namespace {

using testing_support::state_of;
using testing_support::stress_rounds;

constexpr std::size_t kUsers = 20;  // more than enough to make a shard wide

class WideShard : public ::testing::Test {
 protected:
  // Returns the n-th key of the shard that "k" belongs to.
  std::string key(std::size_t n) {
    const std::size_t shard = table_.shard_index(table_.probe("k").tag());
    for (; keys_.size() <= n; ++next_) {
      std::string other = "key " + std::to_string(next_);
      if (table_.shard_index(table_.probe(other).tag()) == shard) {
        keys_.push_back(std::move(other));
      }
    }
    return keys_[n];
  }
  KeyEntry* lock(const std::string& text, Mode mode = Mode::exclusive) {
    return table_.try_acquire(table_.probe(text), mode);
  }
  void unlock(const std::string& text, Mode mode = Mode::exclusive) {
    table_.release(table_.probe(text), mode);
  }
  // One thread after the other uses keys of one shard; `key_of(i)` is the key of thread i.
  template <class KeyOf>
  void use_by_threads(const KeyOf& key_of) {
    for (std::size_t i = 0; i < kUsers; ++i) {
      const std::string text = key_of(i);
      std::jthread([&] {
        for (std::size_t n = 0; n < KeyShard::kSampleEvery; ++n) {
          ASSERT_TRUE(lock(text));
          unlock(text);
        }
      }).join();
    }
  }
  void widen() {
    use_by_threads([this](std::size_t i) { return key(100 + i); });
    EXPECT_GT(table_.cell_count(), narrow_);
  }
  void TearDown() override {
    EXPECT_EQ(table_.size(), 0U);
    EXPECT_TRUE(table_.snapshot().empty());
  }

  KeyTable table_;
  const std::size_t narrow_ = table_.cell_count();

 private:
  std::size_t next_ = 0;
  std::vector<std::string> keys_;
};

TEST_F(WideShard, IsMadeForThreadsWithKeysOfTheirOwn) {
  use_by_threads([this](std::size_t i) { return key(i); });
  EXPECT_EQ(table_.cell_count(), narrow_ - 1 + table_.cells_of_wide_shard());
  EXPECT_EQ(table_.stats().acquisitions, kUsers * KeyShard::kSampleEvery);
}

TEST_F(WideShard, IsNotMadeForOneHotKey) {
  use_by_threads([](std::size_t) { return "k"; });
  EXPECT_EQ(table_.cell_count(), narrow_);
}

TEST_F(WideShard, IsNotMadeForOneThreadWithManyKeys) {
  for (std::size_t i = 0; i < kUsers * KeyShard::kSampleEvery; ++i) {
    ASSERT_TRUE(lock(key(i % 100)));
    unlock(key(i % 100));
  }
  EXPECT_EQ(table_.cell_count(), narrow_);
}

TEST_F(WideShard, IsNotMadeWhenTheNumberOfShardsWasChosen) {
  KeyTable chosen({.shards = 1});
  for (std::size_t i = 0; i < kUsers; ++i) {
    std::jthread([&] {
      for (std::size_t n = 0; n < KeyShard::kSampleEvery; ++n) {
        ASSERT_TRUE(chosen.try_acquire(chosen.probe(std::to_string(i)), Mode::exclusive));
        chosen.release(chosen.probe(std::to_string(i)), Mode::exclusive);
      }
    }).join();
  }
  EXPECT_EQ(chosen.cell_count(), 1U);
}

TEST_F(WideShard, TakesOverTheKeysThatAreHeldWhenItIsMade) {
  std::vector<KeyEntry*> held;
  for (std::size_t i = 0; i < 50; ++i) {
    held.push_back(lock(key(i), i % 2 == 0 ? Mode::exclusive : Mode::shared));
    ASSERT_NE(held.back(), nullptr);
  }
  widen();
  EXPECT_EQ(table_.size(), 50U);
  EXPECT_EQ(table_.snapshot().size(), 50U);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_FALSE(lock(key(i))) << i;
  }
  for (std::size_t i = 0; i < 50; ++i) {
    i % 2 == 0 ? table_.release<Mode::exclusive>(held[i]) : table_.release<Mode::shared>(held[i]);
    ASSERT_TRUE(lock(key(i))) << i;
    unlock(key(i));
  }
}

TEST_F(WideShard, ServesTheWaitersFromBeforeInTheirOrder) {
  const std::array<std::string, 2> contended{key(0), key(1)};  // one in the cell, one in the table
  for (const std::string& text : contended) {
    ASSERT_TRUE(lock(text));
  }
  std::vector<std::jthread> waiters;
  std::array<std::vector<int>, 2> served;
  for (int order = 0; order < 3; ++order) {
    for (std::size_t k = 0; k < 2; ++k) {
      waiters.emplace_back([&, k, order] {
        ASSERT_TRUE(table_.acquire(table_.probe(contended[k]), Mode::exclusive, {}));
        served[k].push_back(order);
        unlock(contended[k]);
      });
      while (state_of(table_, contended[k]).waiting_exclusive !=
             static_cast<std::size_t>(order + 1)) {
        std::this_thread::yield();
      }
    }
  }
  widen();
  for (const std::string& text : contended) {
    EXPECT_EQ(state_of(table_, text),
              (KeyState{.key = text, .exclusive = true, .waiting_exclusive = 3}));
    unlock(text);
  }
  waiters.clear();
  EXPECT_EQ(served[0], (std::vector{0, 1, 2}));
  EXPECT_EQ(served[1], (std::vector{0, 1, 2}));
}

TEST_F(WideShard, LetsAWriterSeeTheReadersOfABiasedKey) {
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(lock(key(0), Mode::shared));
    unlock(key(0), Mode::shared);
  }
  ReaderSlot* const before = table_.try_acquire_slot(table_.probe(key(0)));
  ASSERT_NE(before, nullptr);
  widen();
  EXPECT_EQ(state_of(table_, key(0)), (KeyState{.key = key(0), .readers = 1}));
  EXPECT_FALSE(lock(key(0)));
  KeyEntry* const upgraded = table_.try_upgrade_slot(*before);
  ASSERT_NE(upgraded, nullptr);
  EXPECT_FALSE(lock(key(0), Mode::shared));
  table_.release<Mode::exclusive>(upgraded);

  // Another key of the shard becomes biased, and is upgraded without a writer before.
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(lock(key(1), Mode::shared));
    unlock(key(1), Mode::shared);
  }
  ReaderSlot* const after = table_.try_acquire_slot(table_.probe(key(1)));
  ASSERT_NE(after, nullptr);
  KeyEntry* const writer = table_.try_upgrade_slot(*after);
  ASSERT_NE(writer, nullptr);
  EXPECT_FALSE(lock(key(1), Mode::shared));
  table_.release<Mode::exclusive>(writer);
}

// Makes all shards of a table wide: one thread after the other uses a key of its own in each.
void widen_all(KeyTable& table) {
  std::vector<std::vector<std::string>> keys(table.shard_count());
  for (std::size_t next = 0, full = 0; full < keys.size(); ++next) {
    std::string text = "key " + std::to_string(next);
    auto& own = keys[table.shard_index(table.probe(text).tag())];
    if (own.size() < kUsers) {
      own.push_back(std::move(text));
      full += own.size() == kUsers ? 1U : 0U;
    }
  }
  for (std::size_t i = 0; i < kUsers; ++i) {
    std::jthread([&] {
      for (const auto& own : keys) {
        for (std::size_t n = 0; n < KeyShard::kSampleEvery; ++n) {
          ASSERT_TRUE(table.try_acquire(table.probe(own[i]), Mode::exclusive));
          table.release(table.probe(own[i]), Mode::exclusive);
        }
      }
    }).join();
  }
}

TEST(WideShards, HaveTogetherTheSameNumberOfCellsOnEveryMachine) {
  for (const unsigned hardware_threads : {0U, 1U, 2U, 4U, 12U, 32U, 1000U}) {
    SCOPED_TRACE(hardware_threads);
    KeyTable table({}, hardware_threads);
    widen_all(table);
    EXPECT_EQ(table.cell_count(), KeyShard::kMostCells);
    EXPECT_LE(table.cell_count() * sizeof(KeyCell), 4U << 20U);
    EXPECT_EQ(table.stats().acquisitions, table.shard_count() * kUsers * KeyShard::kSampleEvery);
  }
}

TEST(WideShards, SpreadTheKeysOverAllTheirCells) {
  for (const unsigned hardware_threads : {2U, 1000U}) {
    SCOPED_TRACE(hardware_threads);
    const KeyTable table({}, hardware_threads);
    std::set<std::pair<std::size_t, std::size_t>> used;
    for (std::size_t i = 0; i < 4 * KeyShard::kMostCells; ++i) {
      const std::uint32_t hash = table.probe(std::to_string(i)).tag();
      ASSERT_LT(table.cell_index(hash), table.cells_of_wide_shard());
      used.emplace(table.shard_index(hash), table.cell_index(hash));
    }
    // With four keys for each cell, two in a hundred cells have none.
    EXPECT_GT(used.size(), KeyShard::kMostCells * 9 / 10);
  }
}

// Threads with keys of their own and some in common, while their shard becomes wide.
TEST_F(WideShard, StressWhileItIsMade) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kKeys = 24;
  const int rounds = stress_rounds(40'000);
  key(kUsers + 100);                   // makes the list, which the threads only read
  std::array<long, kKeys> counters{};  // only the key's lock protects each of them
  std::size_t uses = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < rounds; ++i) {
          const auto n = static_cast<std::size_t>(i);
          const std::size_t k = n % 3 == 0 ? n % kKeys : (n * kThreads + t) % kKeys;
          const KeyProbe probe = table_.probe(key(k));
          ASSERT_TRUE(table_.acquire(probe, Mode::exclusive, {}));
          ++counters[k];
          table_.release(probe, Mode::exclusive);
        }
      });
    }
    // A thread that has the processor for long gives samples against a wide shard.
    for (; table_.cell_count() == narrow_; ++uses) {
      use_by_threads([this](std::size_t i) { return key(100 + i); });
    }
  }
  long sum = 0;
  for (const long counter : counters) {
    sum += counter;
  }
  EXPECT_EQ(sum, static_cast<long>(kThreads) * rounds);
  EXPECT_EQ(table_.stats().acquisitions,
            kThreads * static_cast<std::size_t>(rounds) + uses * kUsers * KeyShard::kSampleEvery);
}

// Each key has its own cell, but the waiters of all three are in one list.
TEST_F(WideShard, StressOfWaitersInSeveralCells) {
  constexpr std::size_t kKeys = 3;
  const int rounds = stress_rounds(20'000);
  widen();
  std::array<long, kKeys> counters{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 3 * kKeys; ++t) {
      threads.emplace_back([&, text = key(t % kKeys), counter = &counters[t % kKeys]] {
        const KeyProbe probe = table_.probe(text);
        for (int i = 0; i < rounds; ++i) {
          ASSERT_TRUE(table_.acquire(probe, Mode::exclusive, {}));
          const long before = *counter;
          if (i % 4 == 0) {
            std::this_thread::yield();  // so that the others queue
          }
          *counter = before + 1;
          table_.release(probe, Mode::exclusive);
        }
      });
    }
  }
  EXPECT_EQ(counters, (std::array<long, kKeys>{3L * rounds, 3L * rounds, 3L * rounds}));
}

}  // namespace
}  // namespace holdfast::local::internal
