#include <holdfast/local/internal/reader_bias.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::local::internal {
namespace {

constexpr std::uint64_t kSeed = 0x0123456789ABCDEFULL;

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

std::uint64_t tag_of(const ReaderBias& bias) { return bias.tag(std::memory_order_seq_cst); }

TEST(ReaderBias, CarriesItsTagUntilCleared) {
  ReaderBias bias;
  EXPECT_EQ(tag_of(bias), 0U);
  bias.set(KeyProbe("k", kSeed), 77);
  EXPECT_EQ(tag_of(bias), 77U);
  bias.clear();
  EXPECT_EQ(tag_of(bias), 0U);
  bias.restore(77);
  EXPECT_EQ(tag_of(bias), 77U);
  EXPECT_EQ(bias.key(), "k");
}

TEST(ReaderSlots, AThreadHasItsOwnSlotThatIsVisited) {
  ReaderSlots slots;
  EXPECT_EQ(&slots.mine(3), &slots.mine(3));
  EXPECT_NE(&slots.mine(3), &slots.mine(4));
  // Two new threads, because one in 64 may share a row with this thread.
  std::array<const ReaderSlot*, 2> theirs{};
  for (const ReaderSlot*& slot : theirs) {
    std::jthread([&] { slot = &slots.mine(3); }).join();
  }
  EXPECT_NE(theirs[0], theirs[1]);

  std::vector<const ReaderSlot*> visited;
  slots.for_each(3, [&](const ReaderSlot& slot) { visited.push_back(&slot); });
  EXPECT_EQ(visited.size(), ReaderSlots::kRows);
  EXPECT_EQ(std::ranges::count(visited, &slots.mine(3)), 1);
  EXPECT_EQ(std::ranges::count(visited, theirs[0]), 1);
  EXPECT_EQ(std::ranges::count(visited, theirs[1]), 1);
}

}  // namespace
}  // namespace holdfast::local::internal
