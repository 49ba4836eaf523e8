#include <holdfast/store/token_text.h>

#include <array>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

using base::FencingToken;

constexpr std::array<std::uint64_t, 8> kTokens{0,
                                               1,
                                               9,
                                               10,
                                               1'763'000'000'000'000,
                                               std::uint64_t{1} << 53U,
                                               std::uint64_t{1} << 63U,
                                               std::numeric_limits<std::uint64_t>::max()};

TEST(TokenText, ReadsWhatItWrote) {
  for (const std::uint64_t value : kTokens) {
    const std::string text = token_text(FencingToken(value));
    EXPECT_EQ(text.size(), kTokenTextSize);
    EXPECT_EQ(parse_token_text(text), FencingToken(value));
  }
}

TEST(TokenText, TextsCompareAsTokensDo) {
  for (const std::uint64_t one : kTokens) {
    for (const std::uint64_t other : kTokens) {
      EXPECT_EQ(token_text(FencingToken(one)) < token_text(FencingToken(other)), one < other);
    }
  }
}

TEST(TokenText, NothingElseIsAToken) {
  for (const std::string_view text :
       {"", "7", "0000000000000000007", "000000000000000000007", "0000000000000000007x",
        "-0000000000000000007", " 0000000000000000007", "99999999999999999999"}) {
    EXPECT_EQ(parse_token_text(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace holdfast::store
