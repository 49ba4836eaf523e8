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
  EXPECT_EQ(plan.next(kNow, 9s), kNow + 2500ms);
  EXPECT_FALSE(plan.ending());
}

TEST(LossPlan, WhenNobodyRenewsItKillsWhileATwentiethOfTheTtlIsLeft) {
  LossPlan plan(30s, 5s);
  EXPECT_EQ(plan.at(kNow, 6s), Action::terminate);
  EXPECT_TRUE(plan.ending());
  EXPECT_EQ(plan.next(kNow, 6s), kNow + 4500ms);
  EXPECT_EQ(plan.at(kNow + 4s, 2s), Action::none);
  EXPECT_EQ(plan.at(kNow + 4500ms, 1500ms), Action::kill);
  EXPECT_EQ(plan.at(kNow + 5s, 1s), Action::none);
  EXPECT_EQ(plan.next(kNow + 5s, 0s), base::TimePoint::max());
}

TEST(LossPlan, NeverGivesNoticeOfMoreThanAQuarterOfTheTtl) {
  LossPlan plan(40s, 1h);
  EXPECT_EQ(plan.at(kNow, 13s), Action::none);
  EXPECT_EQ(plan.at(kNow, 12s), Action::terminate);
  EXPECT_EQ(plan.at(kNow + 10s, 2s), Action::kill);
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
  EXPECT_EQ(plan.at(kNow + 3s, 27s), Action::kill);
}

TEST(LossPlan, AGuardianActsAfterThePlanAndNotAfterTheLease) {
  LossPlan plan(40s, 1h);
  EXPECT_EQ(plan.overdue(kNow, 30s), kNow + 23s);
  EXPECT_GT(plan.overdue(kNow, 30s), plan.next(kNow, 30s));
  EXPECT_EQ(plan.kill_at(kNow, 30s), kNow + 28s);
  EXPECT_EQ(plan.at(kNow, 10s), Action::terminate);
  EXPECT_EQ(plan.overdue(kNow + 1s, 9s), base::TimePoint::max());
  EXPECT_EQ(plan.kill_at(kNow + 1s, 9s), kNow + 8s);
}

TEST(LossPlan, WithoutTimeToCleanUpItKillsAtOnce) {
  LossPlan plan(30s, 0s);
  EXPECT_EQ(plan.at(kNow, 1501ms), Action::none);
  EXPECT_EQ(plan.at(kNow, 1500ms), Action::terminate);
  EXPECT_EQ(plan.next(kNow, 1500ms), kNow);
  EXPECT_EQ(plan.at(kNow, 1500ms), Action::kill);
}

}  // namespace

}  // namespace holdfast::cli
