#include <holdfast/base/ids.h>

#include <array>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

constexpr std::string_view kText = "0123456789abcdef00000000000000ff";
constexpr LeaseId kId{0x0123456789abcdefU, 0xffU};

TEST(LeaseId, WritesAndReadsThirtyTwoHexadecimalDigits) {
  EXPECT_EQ(to_string(kId), kText);
  EXPECT_EQ(LeaseId::parse(kText), Result<LeaseId>{kId});
}

TEST(LeaseId, AGeneratedIdSurvivesItsText) {
  for (int i = 0; i < 1'000; ++i) {
    const LeaseId id = LeaseId::generate();
    EXPECT_FALSE(id.is_nil());
    EXPECT_EQ(LeaseId::parse(to_string(id)), Result<LeaseId>{id});
  }
}

TEST(LeaseId, RejectsAnyOtherText) {
  const std::string text{kText};
  for (const std::string& wrong : {std::string{}, text.substr(1), text + "0", "0x" + text.substr(2),
                                   " " + text.substr(1), "g" + text.substr(1), text.substr(1) + "-",
                                   "A" + text.substr(1), text.substr(1) + std::string(1, '\0')}) {
    const Result<LeaseId> parsed = LeaseId::parse(wrong);
    ASSERT_FALSE(parsed.has_value()) << wrong;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
}

TEST(LeaseId, IsNilOnlyWhenAllZero) {
  EXPECT_TRUE(LeaseId{}.is_nil());
  EXPECT_FALSE((LeaseId{1, 0}).is_nil());
  EXPECT_FALSE((LeaseId{0, 1}).is_nil());
  EXPECT_EQ(LeaseId::parse(std::string(32, '0')), Result<LeaseId>{LeaseId{}});
}

TEST(LeaseId, OrdersLikeItsText) {
  EXPECT_LT((LeaseId{0, 2}), (LeaseId{1, 0}));
  EXPECT_LT((LeaseId{1, 0}), (LeaseId{1, 1}));
  EXPECT_LT(to_string(LeaseId{0, 2}), to_string(LeaseId{1, 0}));
}

TEST(LeaseId, IsUniqueAcrossThreads) {
  constexpr std::size_t kThreads = 4;
  std::array<std::vector<LeaseId>, kThreads> generated;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (std::vector<LeaseId>& ids : generated) {
      threads.emplace_back([&ids] {
        for (int i = 0; i < 5'000; ++i) ids.push_back(LeaseId::generate());
      });
    }
  }
  std::unordered_set<LeaseId> all;
  for (const auto& ids : generated) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), kThreads * 5'000U);
}

TEST(LeaseId, HandMadeIdsHaveDifferentHashes) {
  std::set<std::size_t> hashes;
  for (std::uint64_t i = 0; i < 32; ++i) {
    for (std::uint64_t j = 0; j < 32; ++j) hashes.insert(std::hash<LeaseId>{}(LeaseId{i, j}));
  }
  EXPECT_EQ(hashes.size(), 32U * 32U);
}

TEST(FencingToken, OrdersByValueOverTheWholeRange) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  static_assert(FencingToken{1} < FencingToken{2});
  static_assert(FencingToken{kMost} > FencingToken{kMost / 2});
  EXPECT_EQ(FencingToken{kMost}.value(), kMost);
  EXPECT_EQ(to_string(FencingToken{kMost}), "18446744073709551615");
}

TEST(FencingToken, DoesNotMixWithNumbers) {
  static_assert(!std::is_convertible_v<std::uint64_t, FencingToken>);
  static_assert(!std::is_convertible_v<FencingToken, std::uint64_t>);
}

TEST(FencingToken, IsAKeyOfHashedContainers) {
  const std::unordered_set<FencingToken> tokens{FencingToken{1}, FencingToken{2}, FencingToken{1}};
  EXPECT_EQ(tokens.size(), 2U);
}

TEST(Ids, AreWrittenToAStreamAsTheirText) {
  std::ostringstream out;
  out << LeaseId(0, 255) << ' ' << FencingToken(42);
  EXPECT_EQ(out.str(), "000000000000000000000000000000ff 42");
}

}  // namespace
}  // namespace holdfast::base
