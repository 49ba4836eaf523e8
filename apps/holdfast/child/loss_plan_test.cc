#include <chrono>

#include <gtest/gtest.h>

#include "apps/holdfast/child/loss_plan.h"

namespace holdfast::cli {

namespace {

using Action = LossPlan::Action;
using namespace std::chrono_literals;

constexpr base::TimePoint kNow{100s};

TEST(LossPlan, DoesNothingWhileRenewalsComeInTime) {
  LossPlan plan(30s, 5s);
  EXPECT_EQ(plan.at(kNow, 29s), Action::none);
  EXPECT_EQ(plan.at(kNow, 19s), Action::none);
  EXPECT_EQ(plan.next(kNow, 29s), kNow + 14500ms);
  EXPECT_EQ(plan.next(kNow, 9s), kNow + 4s);
  EXPECT_FALSE(plan.ending());
}

TEST(LossPlan, WhenNobodyRenewsItKillsNoLaterThanTheLeaseIsOver) {
  LossPlan plan(30s, 5s);
  EXPECT_EQ(plan.at(kNow, 4s), Action::terminate);
  EXPECT_TRUE(plan.ending());
  EXPECT_EQ(plan.next(kNow, 4s), kNow + 4s);
  EXPECT_EQ(plan.at(kNow + 3s, 1s), Action::none);
  EXPECT_EQ(plan.at(kNow + 4s, 0s), Action::kill);
  EXPECT_EQ(plan.at(kNow + 5s, 0s), Action::none);
  EXPECT_EQ(plan.next(kNow + 5s, 0s), base::TimePoint::max());
}

TEST(LossPlan, NeverGivesNoticeOfMoreThanAQuarterOfTheTtl) {
  LossPlan plan(40s, 1h);
  EXPECT_EQ(plan.at(kNow, 11s), Action::none);
  EXPECT_EQ(plan.at(kNow, 10s), Action::terminate);
  EXPECT_EQ(plan.at(kNow + 10s, 0s), Action::kill);
}

TEST(LossPlan, AfterASuddenLossTheCommandHasItsTimeToCleanUp) {
  LossPlan plan(30s, 5s);
  EXPECT_EQ(plan.at(kNow, 0s), Action::terminate);
  EXPECT_EQ(plan.at(kNow + 4s, 0s), Action::none);
  EXPECT_EQ(plan.at(kNow + 5s, 0s), Action::kill);
}

TEST(LossPlan, ARenewalThatComesAfterAllDoesNotTakeTheEndBack) {
  LossPlan plan(30s, 5s);
  EXPECT_EQ(plan.at(kNow, 4s), Action::terminate);
  EXPECT_EQ(plan.at(kNow + 1s, 29s), Action::none);
  EXPECT_EQ(plan.at(kNow + 4s, 26s), Action::kill);
}

TEST(LossPlan, AGuardianActsAfterThePlanAndNotAfterTheLease) {
  LossPlan plan(40s, 1h);
  EXPECT_EQ(plan.overdue(kNow, 30s), kNow + 25s);
  EXPECT_GT(plan.overdue(kNow, 30s), plan.next(kNow, 30s));
  EXPECT_EQ(plan.kill_at(kNow, 30s), kNow + 30s);
  EXPECT_EQ(plan.at(kNow, 10s), Action::terminate);
  EXPECT_EQ(plan.overdue(kNow + 1s, 9s), base::TimePoint::max());
  EXPECT_EQ(plan.kill_at(kNow + 1s, 9s), kNow + 10s);
}

TEST(LossPlan, WithoutTimeToCleanUpItKillsAtOnce) {
  LossPlan plan(30s, 0s);
  EXPECT_EQ(plan.at(kNow, 1ms), Action::none);
  EXPECT_EQ(plan.at(kNow, 0s), Action::terminate);
  EXPECT_EQ(plan.next(kNow, 0s), kNow);
  EXPECT_EQ(plan.at(kNow, 0s), Action::kill);
}

}  // namespace

}  // namespace holdfast::cli
