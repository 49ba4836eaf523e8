#include <holdfast/base/try.h>

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include <holdfast/base/error.h>

namespace holdfast::base {
namespace {

Result<void> check(int number) {
  if (number < 0) return fail(ErrorCode::invalid_argument, "negative");
  return {};
}

Result<std::unique_ptr<int>> box(int number) {
  HOLDFAST_TRY(check(number));
  return std::make_unique<int>(number);
}

template <class Left, class Right>
Result<int> sum(Left left, Right right) {
  HOLDFAST_TRY_LET(const std::unique_ptr<int> boxed, box(left));
  HOLDFAST_TRY_LET(auto pair, Result<std::pair<int, int>>(std::pair<int, int>(*boxed, right)));
  return pair.first + pair.second;
}

TEST(Try, AValueIsUsedAndMayBeMoveOnly) { EXPECT_EQ(sum(2, 3), 5); }

TEST(Try, AnErrorIsReturnedWithItsCodeAndMessage) {
  const Result<int> failed = sum(-1, 3);

  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), (Error{ErrorCode::invalid_argument, "negative"}));
}

TEST(Try, NothingAfterAnErrorIsEvaluated) {
  int evaluated = 0;
  const auto run = [&](int number) -> Result<void> {
    HOLDFAST_TRY(check(number));
    ++evaluated;
    return {};
  };

  EXPECT_FALSE(run(-1));
  EXPECT_EQ(evaluated, 0);
  EXPECT_TRUE(run(1));
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace holdfast::base
