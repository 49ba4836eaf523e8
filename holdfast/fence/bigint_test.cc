#include <holdfast/fence/bigint.h>

#include <gtest/gtest.h>

#include <holdfast/fence/far_ahead.h>
#include <holdfast/fence/testing_support.h>

namespace holdfast::fence {
namespace {

using base::FencingToken;

TEST(Bigint, ATokenFitsInto63BitsOrIsATypedError) {
  EXPECT_EQ(to_bigint(FencingToken{0}), 0);
  EXPECT_EQ(to_bigint(FencingToken{1'700'000'000'000'000}), 1'700'000'000'000'000);
  for (const std::uint64_t too_great : {std::uint64_t{INT64_MAX}, std::uint64_t{INT64_MAX} + 1}) {
    const auto converted = to_bigint(FencingToken{too_great});
    ASSERT_FALSE(converted);
    EXPECT_EQ(converted.error().code, base::ErrorCode::invalid_argument);
  }
}

TEST(Bigint, ATokenFromTheFarFutureIsATypedError) {
  using namespace std::chrono_literals;
  EXPECT_TRUE(to_bigint(testing::token_in(kFurthestAhead - 1h)));
  const auto forged = to_bigint(testing::token_in(kFurthestAhead + 1h));
  ASSERT_FALSE(forged);
  EXPECT_EQ(forged.error().code, base::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::fence
