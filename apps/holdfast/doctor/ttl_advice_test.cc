#include <chrono>

#include <gtest/gtest.h>

#include "apps/holdfast/doctor/ttl_advice.h"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

TEST(TtlAdvice, KnowsTheMedianAndTheLongestAnswer) {
  const Latency latency = latency_of({3ms, 1ms, 9ms, 2ms, 4ms});
  EXPECT_EQ(latency.median, 3ms);
  EXPECT_EQ(latency.longest, 9ms);
  EXPECT_EQ(latency_of({}).longest, 0ms);
}

TEST(TtlAdvice, AQuickStoreSuitsAShortTtl) {
  const TtlAdvice advice = advise_ttl({.median = 100us, .longest = 4ms}, 100);
  EXPECT_EQ(advice.ttl, 5s);
  EXPECT_LT(advice.false_losses_a_year, 1e-6);
}

TEST(TtlAdvice, ASlowStoreNeedsALongerOne) {
  EXPECT_EQ(advise_ttl({.median = 50ms, .longest = 800ms}, 100).ttl, 10s);
  EXPECT_EQ(advise_ttl({.median = 1s, .longest = 8s}, 100).ttl, 5min);
}

TEST(TtlAdvice, SaysSoWhereNoneIsLongEnough) {
  const TtlAdvice advice = advise_ttl({.median = 60s, .longest = 30min}, 10);
  EXPECT_EQ(advice.ttl, 1h);
  EXPECT_GT(advice.false_losses_a_year, 1);
}

}  // namespace

}  // namespace holdfast::cli
