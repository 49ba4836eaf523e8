#include <holdfast/fence/far_ahead.h>

#include <gtest/gtest.h>

#include <holdfast/fence/testing_support.h>

namespace holdfast::fence {
namespace {

using base::ErrorCode;
using base::FencingToken;
using testing::token_in;
using namespace std::chrono_literals;

TEST(FarAhead, ATokenOfTheNextYearIsNotAndOneBeyondItIs) {
  EXPECT_FALSE(is_far_ahead(FencingToken{0}));
  EXPECT_FALSE(is_far_ahead(token_in(0h)));
  EXPECT_FALSE(is_far_ahead(token_in(kFurthestAhead - 1h)));
  EXPECT_TRUE(is_far_ahead(token_in(kFurthestAhead + 1h)));
  EXPECT_TRUE(is_far_ahead(FencingToken{UINT64_MAX}));
}

TEST(FarAhead, TheErrorNamesTheTokenAndTheClock) {
  const auto checked = check_not_far_ahead(FencingToken{UINT64_MAX});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(checked.error().message.starts_with(
      "token 18446744073709551615 is more than 366 days ahead of this machine's clock"))
      << checked.error().message;
}

}  // namespace
}  // namespace holdfast::fence
