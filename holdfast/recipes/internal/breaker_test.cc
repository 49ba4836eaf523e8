#include <holdfast/recipes/internal/breaker.h>

#include <gtest/gtest.h>

namespace holdfast::recipes::internal {
namespace {

using namespace std::chrono_literals;

constexpr Breaker::Limits kLimits{.failures = 3, .retry_after = 8s};
constexpr base::TimePoint kStart{100s};

Breaker opened(double jitter = 0) {
  Breaker breaker(kLimits);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(breaker.admit(kStart));
    breaker.on_failure(kStart, jitter);
  }
  EXPECT_EQ(breaker.state(), CircuitState::open);
  return breaker;
}

TEST(Breaker, StaysClosedWhileTheStoreAnswers) {
  Breaker breaker(kLimits);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(breaker.admit(kStart));
    breaker.on_answer();
  }
  EXPECT_EQ(breaker.state(), CircuitState::closed);
}

TEST(Breaker, OpensAfterTheLimitOfFailuresInARow) {
  Breaker breaker(kLimits);
  breaker.on_failure(kStart, 0);
  breaker.on_failure(kStart, 0);
  EXPECT_EQ(breaker.state(), CircuitState::closed);
  breaker.on_failure(kStart, 0);
  EXPECT_EQ(breaker.state(), CircuitState::open);
  EXPECT_FALSE(breaker.admit(kStart));
}

TEST(Breaker, AnAnswerInBetweenStartsTheCountAgain) {
  Breaker breaker(kLimits);
  for (int i = 0; i < 10; ++i) {
    breaker.on_failure(kStart, 0);
    breaker.on_failure(kStart, 0);
    breaker.on_answer();
  }
  EXPECT_EQ(breaker.state(), CircuitState::closed);
}

TEST(Breaker, AdmitsNoCallBeforeThePauseIsOverAndThenOne) {
  Breaker breaker = opened();
  EXPECT_FALSE(breaker.would_admit(kStart + 8s - 1ns));
  EXPECT_FALSE(breaker.admit(kStart + 8s - 1ns));
  EXPECT_TRUE(breaker.would_admit(kStart + 8s));
  EXPECT_TRUE(breaker.admit(kStart + 8s));
  EXPECT_EQ(breaker.state(), CircuitState::half_open);
  EXPECT_FALSE(breaker.would_admit(kStart + 100s));
  EXPECT_FALSE(breaker.admit(kStart + 100s));
}

TEST(Breaker, JitterMakesThePauseUpToAQuarterLonger) {
  EXPECT_EQ(opened(0).retry_at(), kStart + 8s);
  EXPECT_EQ(opened(0.5).retry_at(), kStart + 9s);
  EXPECT_EQ(opened(1).retry_at(), kStart + 10s);
}

TEST(Breaker, AProbeThatIsAnsweredClosesIt) {
  Breaker breaker = opened();
  EXPECT_TRUE(breaker.admit(kStart + 8s));
  breaker.on_answer();
  EXPECT_EQ(breaker.state(), CircuitState::closed);
  // The count starts again.
  breaker.on_failure(kStart + 9s, 0);
  breaker.on_failure(kStart + 9s, 0);
  EXPECT_EQ(breaker.state(), CircuitState::closed);
}

TEST(Breaker, AProbeThatFailsOpensItForAnotherPause) {
  Breaker breaker = opened();
  EXPECT_TRUE(breaker.admit(kStart + 20s));
  breaker.on_failure(kStart + 21s, 0);
  EXPECT_EQ(breaker.state(), CircuitState::open);
  EXPECT_FALSE(breaker.admit(kStart + 29s - 1ns));
  EXPECT_TRUE(breaker.admit(kStart + 29s));
}

TEST(Breaker, FailuresOfCallsThatWereUnderWayDoNotMakeThePauseLonger) {
  Breaker breaker = opened();
  breaker.on_failure(kStart + 7s, 1);
  EXPECT_EQ(breaker.retry_at(), kStart + 8s);
}

TEST(Breaker, AnAnswerToAnyCallClosesIt) {
  Breaker breaker = opened();
  breaker.on_answer();
  EXPECT_TRUE(breaker.admit(kStart));
}

TEST(Breaker, AProbeThatSaysNothingLeavesTheNextCallToProbe) {
  Breaker breaker = opened();
  EXPECT_TRUE(breaker.admit(kStart + 8s));
  breaker.on_nothing();
  EXPECT_EQ(breaker.state(), CircuitState::open);
  EXPECT_TRUE(breaker.admit(kStart + 8s));
  EXPECT_EQ(breaker.state(), CircuitState::half_open);
}

TEST(Breaker, ACallThatSaysNothingChangesNothing) {
  Breaker breaker(kLimits);
  for (int i = 0; i < 10; ++i) {
    breaker.on_nothing();
  }
  EXPECT_EQ(breaker.state(), CircuitState::closed);
}

}  // namespace
}  // namespace holdfast::recipes::internal
