#include <holdfast/fence/bigint.h>

#include <gtest/gtest.h>

namespace holdfast::fence {
namespace {

using base::FencingToken;

TEST(Bigint, ATokenFitsInto63BitsOrIsATypedError) {
  EXPECT_EQ(to_bigint(FencingToken{0}), 0);
  EXPECT_EQ(to_bigint(FencingToken{INT64_MAX}), INT64_MAX);
  const auto too_great = to_bigint(FencingToken{std::uint64_t{INT64_MAX} + 1});
  ASSERT_FALSE(too_great);
  EXPECT_EQ(too_great.error().code, base::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::fence
