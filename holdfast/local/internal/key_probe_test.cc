// Keys as the table sees them: packed, hashed, compared.
#include <holdfast/local/internal/key_probe.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/local/internal/key_shard.h>

namespace holdfast::local::internal {
namespace {

constexpr std::uint64_t kSeed = 0x0123456789ABCDEFULL;
constexpr std::array<std::size_t, 20> kLengths{0,  1,  2,  3,  4,  5,  7,  8,   9,   12,
                                               14, 15, 16, 17, 24, 31, 32, 100, 257, 5000};

std::string text_of(std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t i = 0; i < length; ++i) {
    text[i] = static_cast<char>('A' + i % 57);
  }
  return text;
}

// A probe whose hash says nothing: only the bytes tell it from another.
KeyProbe with_forged_hash(std::string_view text) {
  KeyProbe probe(text, kSeed);
  probe.hash = 42;
  return probe;
}

TEST(KeyProbe, PacksShortKeysOfEveryLengthDifferently) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> packed;
  for (std::size_t length = 0; length <= kShortKey; ++length) {
    for (const char fill : {'\0', 'x', '\xFF'}) {
      const KeyProbe probe(std::string(length, fill), kSeed);
      EXPECT_TRUE(probe.is_short());
      packed.emplace(probe.lo, probe.hi);
    }
  }
  EXPECT_EQ(packed.size(), 1 + 3 * kShortKey);
  EXPECT_FALSE(KeyProbe(text_of(kShortKey + 1), kSeed).is_short());
}

TEST(KeyProbe, HashesEveryByte) {
  for (const std::size_t length : kLengths) {
    const std::string text = text_of(length);
    const std::uint64_t hash = KeyProbe(text, kSeed).hash;
    EXPECT_EQ(KeyProbe(std::string(text), kSeed).hash, hash);
    for (std::size_t at = 0; at < length; ++at) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ 1);
      EXPECT_NE(KeyProbe(other, kSeed).hash, hash) << length << " bytes, different at " << at;
    }
  }
}

TEST(KeyProbe, HashesDifferentlyUnderAnotherSeed) {
  for (const std::size_t length : kLengths) {
    const std::string text = text_of(length);
    EXPECT_NE(KeyProbe(text, kSeed).hash, KeyProbe(text, kSeed + 1).hash);
  }
}

TEST(KeyProbe, TellsTheOrderOfBlocksApart) {
  const std::string a = text_of(16);
  const std::string b(16, 'b');
  const std::string c(16, 'c');
  EXPECT_NE(KeyProbe(a + b + c, kSeed).hash, KeyProbe(b + a + c, kSeed).hash);
  EXPECT_NE(KeyProbe(a + b + c, kSeed).hash, KeyProbe(a + c + b, kSeed).hash);
}

TEST(KeyProbe, ReadsNothingBeyondTheKey) {
  // An address sanitizer watches both ends of the block.
  for (std::size_t length = 0; length <= 66; ++length) {
    const std::string text = text_of(length);
    const auto exact = std::make_unique<char[]>(length);
    text.copy(exact.get(), length);
    EXPECT_EQ(KeyProbe({exact.get(), length}, kSeed).hash, KeyProbe(text, kSeed).hash);
  }
  EXPECT_EQ(KeyProbe(std::string_view(), kSeed).hash, KeyProbe("", kSeed).hash);
}

TEST(KeyProbe, SpreadsSimilarKeysOverAllShards) {
  constexpr int kPerShard = 64;
  std::array<int, kShards> counts{};
  for (std::size_t i = 0; i < kPerShard * kShards; ++i) {
    ++counts[shard_index(KeyProbe("user:" + std::to_string(i), kSeed).tag())];
  }
  for (const int count : counts) {
    EXPECT_GT(count, kPerShard / 3);
    EXPECT_LT(count, kPerShard * 3);
  }
}

// A shard that is empty again at its end, as its destructor wants it.
class KeyEntryInAShard : public ::testing::Test {
 protected:
  KeyEntry* add(const KeyProbe& probe) {
    KeyEntry* const entry = shard_.add(probe, trash_);
    added_.push_back(entry);
    return entry;
  }
  void TearDown() override {
    for (KeyEntry* const entry : added_) {
      shard_.remove(entry, trash_);
    }
    EXPECT_EQ(shard_.entries.size(), 0U);
  }

  Trash trash_;
  KeyShard shard_;

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
    EXPECT_EQ(shard_.find(with_forged_hash(text)), entry);
  }
  EXPECT_EQ(shard_.find(with_forged_hash(text_of(10) + 'c')), nullptr);
  EXPECT_EQ(shard_.find(with_forged_hash(text_of(100) + 'c')), nullptr);
}

TEST_F(KeyEntryInAShard, RemembersItsKey) {
  for (const std::size_t length : kLengths) {
    const KeyEntry* const entry = add(KeyProbe(text_of(length), kSeed));
    EXPECT_EQ(entry->key(), text_of(length));
    EXPECT_EQ(entry->has_long_key(), length > kShortKey);
  }
}

}  // namespace
}  // namespace holdfast::local::internal
