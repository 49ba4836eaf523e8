#include <holdfast/metrics/internal/histogram.h>

#include <gtest/gtest.h>

namespace holdfast::metrics::internal {
namespace {

using namespace std::chrono_literals;

TEST(Histogram, ADurationIsInTheFirstBucketWhoseBoundItDoesNotPass) {
  Histogram histogram;
  histogram.add(100us);
  histogram.add(101us);
  histogram.add(1h);
  EXPECT_EQ(histogram.count(0), 1U);
  EXPECT_EQ(histogram.count(1), 1U);
  EXPECT_EQ(histogram.count(Histogram::kBounds.size()), 1U) << "beyond every bound";
}

TEST(Histogram, TheSumIsInSeconds) {
  Histogram histogram;
  histogram.add(1500ms);
  histogram.add(500ms);
  EXPECT_DOUBLE_EQ(histogram.sum().count(), 2.0);
}

// A clock that was set back.
TEST(Histogram, ANegativeDurationCountsAsZero) {
  Histogram histogram;
  histogram.add(-1s);
  EXPECT_EQ(histogram.count(0), 1U);
  EXPECT_DOUBLE_EQ(histogram.sum().count(), 0.0);
}

}  // namespace
}  // namespace holdfast::metrics::internal
