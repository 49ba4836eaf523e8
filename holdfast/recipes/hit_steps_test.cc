#include <holdfast/recipes/hit_steps.h>

#include <utility>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::recipes {
namespace {

using namespace std::chrono_literals;
using locks::steps::Step;
using locks::steps::Woken;

class HitStepsTest : public ::testing::Test {
 protected:
  static base::Result<store::HitOutcome> refused(base::Duration retry_after) {
    store::HitOutcome outcome{};
    outcome.retry_after = retry_after;
    return outcome;
  }

  base::ManualClock clock_;
  ThrottleOptions options_{.clock = &clock_};
};

TEST_F(HitStepsTest, AStoreThatSaysTryAtOnceIsNotAskedInALoop) {
  HitSteps steps(options_, "key", 1, base::Duration::max());
  ASSERT_EQ(steps.start().kind, Step::Kind::hit);
  for (int i = 0; i < 100; ++i) {
    const Step pause = steps.on(refused(0ms));
    ASSERT_EQ(pause.kind, Step::Kind::wait);
    EXPECT_GE(pause.until, clock_.now() + 5ms);
    clock_.set(pause.until);
    ASSERT_EQ(steps.on(Woken{}).kind, Step::Kind::hit);
  }
}

TEST_F(HitStepsTest, AsksOnceMoreAtTheEndOfItsWaitAndNoMore) {
  HitSteps steps(options_, "key", 1, 3ms);
  ASSERT_EQ(steps.start().kind, Step::Kind::hit);
  const Step pause = steps.on(refused(0ms));
  ASSERT_EQ(pause.kind, Step::Kind::wait);
  EXPECT_EQ(pause.until, clock_.now() + 3ms);
  clock_.set(pause.until);
  ASSERT_EQ(steps.on(Woken{}).kind, Step::Kind::hit);
  EXPECT_EQ(steps.on(refused(0ms)).kind, Step::Kind::done);
  EXPECT_FALSE(*steps.allowed());
}

TEST_F(HitStepsTest, EndsAtOnceIfItCannotPassWithinItsWait) {
  HitSteps steps(options_, "key", 1, 1s);
  ASSERT_EQ(steps.start().kind, Step::Kind::hit);
  EXPECT_EQ(steps.on(refused(2s)).kind, Step::Kind::done);
}

}  // namespace
}  // namespace holdfast::recipes
