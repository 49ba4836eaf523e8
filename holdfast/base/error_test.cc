#include <holdfast/base/error.h>

#include <memory>
#include <set>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(Error, ReadsAsCodeAndMessage) {
  EXPECT_EQ(to_string(Error{ErrorCode::invalid_argument, "the key is empty"}),
            "invalid_argument: the key is empty");
}

TEST(Error, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  const auto count = static_cast<std::uint8_t>(ErrorCode::internal) + 1;
  for (int code = 0; code < count; ++code) names.insert(to_string(static_cast<ErrorCode>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
  EXPECT_FALSE(names.contains("unrecognised"));
}

TEST(Error, ComparesByCodeAndMessage) {
  const Error busy{ErrorCode::busy, "taken"};
  EXPECT_EQ(busy, (Error{ErrorCode::busy, "taken"}));
  EXPECT_NE(busy, (Error{ErrorCode::lost, "taken"}));
  EXPECT_NE(busy, (Error{ErrorCode::busy, "held"}));
}

TEST(Result, FailMakesTheFailingSideOfAnyResult) {
  const Result<int> number = fail(ErrorCode::lost, "expired");
  const Result<void> nothing = fail(ErrorCode::lost, "expired");
  ASSERT_FALSE(number.has_value());
  ASSERT_FALSE(nothing.has_value());
  EXPECT_EQ(number.error(), nothing.error());
  EXPECT_EQ(number.error(), (Error{ErrorCode::lost, "expired"}));
}

TEST(ValueOrThrow, ReturnsTheValue) {
  EXPECT_EQ(value_or_throw(Result<int>{7}), 7);
  EXPECT_NO_THROW(value_or_throw(Result<void>{}));
}

TEST(ValueOrThrow, MovesAMoveOnlyValueOut) {
  EXPECT_EQ(*value_or_throw(Result<std::unique_ptr<int>>{std::make_unique<int>(7)}), 7);
}

TEST(ValueOrThrow, ThrowsTheErrorWithItsCodeAndText) {
  try {
    value_or_throw(Result<int>{fail(ErrorCode::timed_out, "waited 5 s")});
    FAIL() << "did not throw";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.code(), ErrorCode::timed_out);
    EXPECT_EQ(exception.error().message, "waited 5 s");
    EXPECT_STREQ(exception.what(), "timed_out: waited 5 s");
  }
  EXPECT_THROW(value_or_throw(Result<void>{fail(ErrorCode::lost, "")}), Exception);
}

TEST(Exception, IsCopiedWithoutThrowing) {
  static_assert(std::is_nothrow_copy_constructible_v<Exception>);
  static_assert(std::is_nothrow_copy_assignable_v<Exception>);
}

}  // namespace
}  // namespace holdfast::base
