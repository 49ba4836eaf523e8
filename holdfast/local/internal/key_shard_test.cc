#include <holdfast/local/internal/key_shard.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::local::internal {
namespace {

constexpr std::uint64_t kSeed = 0x0123456789ABCDEFULL;

KeyEntry* add(KeyShard& shard, const KeyProbe& probe) {
  Trash trash;
  return shard.add(shard.first_cell, probe, trash);
}

// Entries by key. All of them are removed at the end, as the shard's destructor requires.
class KeyEntryInAShard : public ::testing::Test {
 protected:
  static constexpr std::array<std::size_t, 20> kLengths{0,  1,  2,  3,  4,  5,  7,  8,   9,   12,
                                                        14, 15, 16, 17, 24, 31, 32, 100, 257, 5000};

  static std::string text_of(std::size_t length) {
    std::string text(length, '\0');
    for (std::size_t i = 0; i < length; ++i) {
      text[i] = static_cast<char>('A' + i % 57);
    }
    return text;
  }
  // Returns a probe with a constant hash: only the bytes distinguish it from another.
  static KeyProbe with_forged_hash(std::string_view text) {
    KeyProbe probe(text, kSeed);
    probe.hash = 42;
    return probe;
  }

  KeyEntry* add(const KeyProbe& probe) {
    KeyEntry* const entry = added_.emplace_back(internal::add(shard_, probe));
    entry->hold(Mode::exclusive);
    return entry;
  }
  void TearDown() override {
    Afterwards afterwards;
    for (KeyEntry* const entry : added_) {
      entry->unhold(Mode::exclusive);
      shard_.settle(cell_, entry, afterwards);
    }
    EXPECT_TRUE(cell_.is_empty());
  }

  KeyShard shard_;
  KeyCell& cell_ = shard_.first_cell;

 private:
  std::vector<KeyEntry*> added_;
};

TEST_F(KeyEntryInAShard, IsForItsKeyAlone) {
  for (const std::size_t length : kLengths) {
    const std::string text = text_of(length);
    const KeyEntry* const entry = add(with_forged_hash(text));
    EXPECT_TRUE(entry->is_for(with_forged_hash(std::string(text))));
    for (std::size_t at = 0; at < length; ++at) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ 1);
      ASSERT_FALSE(entry->is_for(with_forged_hash(other))) << length << ", different at " << at;
    }
    EXPECT_FALSE(entry->is_for(with_forged_hash(text + '\0')));
    EXPECT_FALSE(entry->is_for(with_forged_hash(text + 'x')));
    if (length > 0) {
      EXPECT_FALSE(entry->is_for(with_forged_hash(text.substr(1))));
      EXPECT_FALSE(entry->is_for(with_forged_hash(text.substr(0, length - 1))));
    }
  }
}

TEST_F(KeyEntryInAShard, IsFoundAmongOthersOfTheSameHash) {
  std::vector<std::pair<std::string, KeyEntry*>> all;
  for (const std::size_t length : kLengths) {
    for (const char last : {'a', 'b', '\0'}) {
      const std::string text = text_of(length) + last;
      all.emplace_back(text, add(with_forged_hash(text)));
    }
  }
  for (const auto& [text, entry] : all) {
    EXPECT_EQ(shard_.find(cell_, with_forged_hash(text)), entry);
  }
  EXPECT_EQ(shard_.find(cell_, with_forged_hash(text_of(10) + 'c')), nullptr);
  EXPECT_EQ(shard_.find(cell_, with_forged_hash(text_of(100) + 'c')), nullptr);
}

TEST_F(KeyEntryInAShard, RemembersItsKey) {
  for (const std::size_t length : kLengths) {
    const KeyEntry* const entry = add(KeyProbe(text_of(length), kSeed));
    EXPECT_EQ(entry->key(), text_of(length));
    EXPECT_EQ(entry->has_long_key(), length > kShortKey);
  }
}

// The queue of one key, without threads: each waiter's signal shows how it was notified.
class KeyShardLine : public ::testing::Test {
 protected:
  void stand(Waiter& waiter, Mode mode, Priority priority = Priority::normal) {
    waiter.mode = mode;
    waiter.priority = priority;
    Afterwards afterwards;
    shard_.add_waiter(cell_, entry_, waiter, afterwards.wakes);
  }
  void release(Mode mode) {
    Afterwards afterwards;
    entry_->unhold(mode);
    shard_.settle(cell_, entry_, afterwards);
  }
  void answer_retry(Waiter& waiter) {
    Afterwards afterwards;
    shard_.answer_retry(cell_, entry_, waiter, afterwards.wakes);
  }
  bool give_up(Waiter& waiter) {
    Afterwards afterwards;
    return shard_.give_up(cell_, entry_, waiter, afterwards);
  }
  static bool is_told(const Waiter& waiter) { return (waiter.signal & Waiter::kRetry) != 0; }
  static bool is_served(const Waiter& waiter) { return (waiter.signal & Waiter::kGranted) != 0; }

  KeyShard shard_;
  KeyCell& cell_ = shard_.first_cell;
  KeyEntry* const entry_ = add(shard_, KeyProbe("k", kSeed));
  Waiter first_, second_, third_, fourth_;
};

TEST_F(KeyShardLine, TheFirstWaiterIsWokenAndServedWhenItRuns) {
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::exclusive);
  stand(second_, Mode::exclusive);
  EXPECT_FALSE(is_told(first_));
  release(Mode::exclusive);
  EXPECT_TRUE(is_told(first_));
  EXPECT_FALSE(is_served(first_));
  EXPECT_FALSE(is_told(second_));

  answer_retry(first_);
  EXPECT_TRUE(is_served(first_));
  EXPECT_TRUE(entry_->is_exclusive());
  EXPECT_TRUE(entry_->is_queued());
  release(Mode::exclusive);
  answer_retry(second_);
  EXPECT_TRUE(is_served(second_));
  EXPECT_FALSE(entry_->is_queued());
  release(Mode::exclusive);
  EXPECT_TRUE(cell_.is_empty());
}

TEST_F(KeyShardLine, AWaiterThatWasPassedIsHandedTheKeyNextTime) {
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::exclusive);
  release(Mode::exclusive);
  ASSERT_TRUE(entry_->admits(Mode::exclusive));
  entry_->hold(Mode::exclusive);  // a newcomer is faster
  answer_retry(first_);
  EXPECT_FALSE(is_served(first_));
  EXPECT_FALSE(is_told(first_));
  release(Mode::exclusive);
  EXPECT_TRUE(is_served(first_));
  EXPECT_FALSE(entry_->admits(Mode::exclusive)) << "no newcomer is faster a second time";
  release(Mode::exclusive);
  EXPECT_TRUE(cell_.is_empty());
}

TEST_F(KeyShardLine, AWokenWaiterThatGetsNoProcessorIsPassedUntilItHasWaitedTooLong) {
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::exclusive);
  stand(second_, Mode::exclusive);
  release(Mode::exclusive);
  ASSERT_TRUE(is_told(first_));
  const auto pass = [&] {
    ASSERT_TRUE(entry_->admits(Mode::exclusive));
    entry_->hold(Mode::exclusive);
    release(Mode::exclusive);
  };
  for (std::uint32_t i = 0; i < 10 * KeyShard::kPassesPerLook; ++i) {
    pass();
  }
  EXPECT_FALSE(is_served(first_));
  first_.since = std::chrono::steady_clock::now() - KeyShard::kPatience;
  for (std::uint32_t i = 0; i < KeyShard::kPassesPerLook && !is_served(first_); ++i) {
    pass();
  }
  EXPECT_TRUE(is_served(first_));
  EXPECT_FALSE(entry_->admits(Mode::exclusive));
  EXPECT_FALSE(is_told(second_));

  answer_retry(first_);  // the wake-up finds that the waiter holds the key
  EXPECT_TRUE(entry_->is_exclusive());
  release(Mode::exclusive);
  answer_retry(second_);
  EXPECT_TRUE(is_served(second_));
  release(Mode::exclusive);
  EXPECT_TRUE(cell_.is_empty());
}

TEST_F(KeyShardLine, InALongQueueEveryWaiterThatHasWaitedTooLongIsServedWithoutBeingPassed) {
  std::array<Waiter, 64> queue;
  entry_->hold(Mode::exclusive);
  for (Waiter& waiter : queue) {
    waiter.since = std::chrono::steady_clock::now() - KeyShard::kPatience;
    stand(waiter, Mode::exclusive);
  }
  for (const Waiter& waiter : queue) {
    release(Mode::exclusive);
    EXPECT_TRUE(is_served(waiter));
    EXPECT_TRUE(entry_->is_exclusive());
  }
}

TEST_F(KeyShardLine, ASlowHolderDoesNotDelayTheLookAtTheClock) {
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::exclusive);
  release(Mode::exclusive);
  entry_->hold(Mode::exclusive);  // a newcomer, for longer than the waiter's patience
  first_.since = std::chrono::steady_clock::now() - KeyShard::kPatience;
  release(Mode::exclusive);
  EXPECT_TRUE(is_served(first_));
}

TEST_F(KeyShardLine, AReaderThatWasPassedIsHandedTheKeyNextTimeWithItsNeighbours) {
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::shared);
  stand(second_, Mode::shared);
  release(Mode::exclusive);
  entry_->hold(Mode::exclusive);
  answer_retry(first_);
  EXPECT_FALSE(is_served(first_));
  release(Mode::exclusive);
  EXPECT_TRUE(is_served(first_));
  EXPECT_TRUE(is_served(second_));
  EXPECT_EQ(entry_->readers(), 2U);
}

TEST_F(KeyShardLine, ReadersDirectlyBehindAReaderEnterWithIt) {
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::shared);
  stand(second_, Mode::shared);
  stand(third_, Mode::exclusive);
  stand(fourth_, Mode::shared);
  release(Mode::exclusive);
  answer_retry(first_);
  EXPECT_TRUE(is_served(first_));
  EXPECT_TRUE(is_served(second_));
  EXPECT_FALSE(is_served(third_));
  EXPECT_FALSE(is_served(fourth_));
  EXPECT_EQ(entry_->readers(), 2U);
  EXPECT_TRUE(entry_->is_queued());
}

TEST_F(KeyShardLine, IfTheWokenWaiterGivesUpTheNextIsWoken) {
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::exclusive);
  stand(second_, Mode::exclusive);
  release(Mode::exclusive);
  EXPECT_TRUE(give_up(first_));
  EXPECT_TRUE(is_told(second_));
  EXPECT_TRUE(give_up(second_));
  EXPECT_TRUE(cell_.is_empty());
}

TEST_F(KeyShardLine, AWriterThatGivesUpLetsTheReadersBehindItJoinTheHolders) {
  entry_->hold(Mode::shared);
  stand(first_, Mode::exclusive);
  stand(second_, Mode::shared);
  EXPECT_FALSE(is_told(second_));
  EXPECT_TRUE(give_up(first_));
  EXPECT_TRUE(is_told(second_));
  answer_retry(second_);
  EXPECT_EQ(entry_->readers(), 2U);
  EXPECT_FALSE(entry_->is_queued());
}

TEST_F(KeyShardLine, AServedWaiterCannotGiveUp) {
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::exclusive);
  release(Mode::exclusive);
  answer_retry(first_);
  EXPECT_FALSE(give_up(first_));
  EXPECT_TRUE(entry_->is_exclusive());
}

TEST_F(KeyShardLine, TheHolderKeepsTheKeyWhenTheLastWaiterGivesUp) {
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::shared);
  EXPECT_TRUE(give_up(first_));
  EXPECT_FALSE(entry_->is_queued());
  EXPECT_TRUE(entry_->is_exclusive());
  release(Mode::exclusive);
  EXPECT_TRUE(cell_.is_empty());
}

TEST_F(KeyShardLine, AnUrgentReaderJoinsOtherReadersAtOnce) {
  entry_->hold(Mode::shared);
  stand(first_, Mode::exclusive);
  stand(second_, Mode::shared, Priority::urgent);
  EXPECT_TRUE(is_served(second_));
  EXPECT_FALSE(is_told(first_));
  EXPECT_EQ(entry_->readers(), 2U);
  EXPECT_TRUE(entry_->is_queued());
}

TEST_F(KeyShardLine, IsSeparateFromTheQueuesOfOtherKeys) {
  KeyEntry* const other = add(shard_, KeyProbe("other", kSeed));
  other->hold(Mode::exclusive);
  Afterwards afterwards;
  Waiter for_other;
  shard_.add_waiter(cell_, other, for_other, afterwards.wakes);
  entry_->hold(Mode::exclusive);
  stand(first_, Mode::exclusive);
  stand(second_, Mode::exclusive, Priority::urgent);
  release(Mode::exclusive);
  EXPECT_TRUE(is_told(second_));
  EXPECT_FALSE(is_told(first_));
  EXPECT_FALSE(is_told(for_other));
}

}  // namespace
}  // namespace holdfast::local::internal
