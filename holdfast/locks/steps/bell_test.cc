#include <holdfast/locks/steps/bell.h>

#include <thread>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::locks::steps {
namespace {

using namespace std::chrono_literals;

TEST(Bell, EndsASleep) {
  const base::ManualClock clock;
  Bell bell;
  bool rung = false;
  {
    std::jthread sleeper([&] { rung = bell.wait_until(clock, base::TimePoint::max()); });
    clock.wait_for_sleepers(1);
    bell.ring();
  }
  EXPECT_TRUE(rung);
}

TEST(Bell, RungBeforeTheSleepEndsItAtOnceAndCountsOnce) {
  base::ManualClock clock;
  Bell bell;
  bell.ring();
  bell.ring();
  EXPECT_TRUE(bell.wait_until(clock, base::TimePoint::max()));
  EXPECT_FALSE(bell.wait_until(clock, clock.now()));
}

TEST(Bell, TheTimeEndsASleepToo) {
  base::ManualClock clock;
  Bell bell;
  bool rung = true;
  {
    std::jthread sleeper([&] { rung = bell.wait_until(clock, clock.now() + 1s); });
    clock.wait_for_sleepers(1);
    clock.advance(1s);
  }
  EXPECT_FALSE(rung);
}

TEST(Bell, NoRingIsLostBetweenTwoThreads) {
  Bell bell;
  Bell answer;
  constexpr int kRounds = 2000;
  std::jthread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_TRUE(bell.wait_until(base::steady_clock(), base::TimePoint::max()));
      answer.ring();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    bell.ring();
    ASSERT_TRUE(answer.wait_until(base::steady_clock(), base::TimePoint::max()));
  }
}

}  // namespace
}  // namespace holdfast::locks::steps
