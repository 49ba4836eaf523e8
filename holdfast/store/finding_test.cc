#include <holdfast/store/finding.h>

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

TEST(Finding, AClockThatIsFarOffIsAWarning) {
  EXPECT_EQ(judge_clock(std::chrono::milliseconds(-3)).level, Finding::Level::good);
  EXPECT_EQ(judge_clock(std::chrono::minutes(5)).level, Finding::Level::warning);
  EXPECT_EQ(judge_clock(std::chrono::minutes(-5)).level, Finding::Level::warning);
}

}  // namespace
}  // namespace holdfast::store
