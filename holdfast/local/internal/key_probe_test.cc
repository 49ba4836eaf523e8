#include <holdfast/local/internal/key_probe.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <holdfast/local/internal/sharding.h>

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
    EXPECT_NE(KeyProbe(text, kSeed).hash, KeyProbe(text, kSeed + 1).hash) << length << " bytes";
  }
}

// A reader of the source knows the hash's constants, and must not be able to build keys from them
// that collide under every seed.
TEST(KeyProbe, HashesKeysMadeOfItsOwnConstantsDifferently) {
  for (const std::uint64_t constant : {kMixA, kMixB, kMixC}) {
    const std::string word(reinterpret_cast<const char*>(&constant), sizeof constant);
    for (const std::size_t words : {2U, 3U, 4U, 6U}) {
      for (std::size_t at = 0; at < words * words; ++at) {
        const std::size_t fixed = at / words;
        const std::size_t varied = at % words;
        std::set<std::uint64_t> hashes;
        for (const char fill : {'a', 'b', 'c', 'd'}) {
          std::string key(8 * words, '.');
          key.replace(8 * varied, 8, 8, fill);
          key.replace(8 * fixed, 8, word);
          hashes.insert(KeyProbe(key, kSeed).hash);
        }
        EXPECT_EQ(hashes.size(), fixed == varied ? 1U : 4U)
            << words << " words, the constant is number " << fixed << ", different in " << varied;
      }
    }
  }
}

TEST(KeyProbe, DistinguishesTheOrderOfBlocks) {
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
  constexpr unsigned kShardBits = 6;
  constexpr std::size_t kShards = std::size_t{1} << kShardBits;
  std::array<int, kShards> counts{};
  for (std::size_t i = 0; i < kPerShard * kShards; ++i) {
    ++counts[shard_index(KeyProbe("user:" + std::to_string(i), kSeed).tag(), kShardBits)];
  }
  for (const int count : counts) {
    EXPECT_GT(count, kPerShard / 3);
    EXPECT_LT(count, kPerShard * 3);
  }
}

}  // namespace
}  // namespace holdfast::local::internal
