#include <holdfast/base/clock.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

static_assert(!std::is_convertible_v<std::chrono::steady_clock::time_point, TimePoint>);
static_assert(!std::is_convertible_v<TimePoint, std::chrono::steady_clock::time_point>);
static_assert(!std::is_copy_constructible_v<SteadyClock>);

class RealClock : public testing::TestWithParam<const Clock*> {
 protected:
  const Clock& clock() const { return *GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Both, RealClock, testing::Values(&steady_clock(), &boot_clock()),
                         [](const auto& parameter) {
                           return std::string{parameter.index == 0 ? "steady" : "boot"};
                         });

TEST_P(RealClock, NeverRunsBackwards) {
  TimePoint last = clock().now();
  for (int i = 0; i < 100'000; ++i) {
    const TimePoint now = clock().now();
    ASSERT_LE(last, now);
    last = now;
  }
}

TEST_P(RealClock, CoarseReadingIsNeverAheadAndNeverRunsBackwards) {
  TimePoint last = clock().coarse_now();
  for (int i = 0; i < 300'000; ++i) {
    const TimePoint coarse = clock().coarse_now();
    const TimePoint now = clock().now();
    ASSERT_LE(coarse, now);
    ASSERT_LE(last, coarse);
    last = coarse;
  }
}

TEST_P(RealClock, SleepEndsNoEarlierThanItsTime) {
  const TimePoint when = clock().now() + 2ms;
  EXPECT_TRUE(clock().sleep_until(when, {}));
  EXPECT_GE(clock().now(), when);
}

TEST_P(RealClock, SleepUntilThePastReturnsAtOnceEvenWhenStopped) {
  std::stop_source source;
  source.request_stop();
  EXPECT_TRUE(clock().sleep_until(clock().now(), source.get_token()));
  EXPECT_TRUE(clock().sleep_until(TimePoint::min(), source.get_token()));
}

TEST_P(RealClock, SleepDoesNotStartOnceStopped) {
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(clock().sleep_until(TimePoint::max(), source.get_token()));
}

TEST_P(RealClock, AStopEndsASleepUntilTheEndOfTime) {
  std::stop_source source;
  std::jthread stopper{[&] { source.request_stop(); }};
  EXPECT_FALSE(clock().sleep_until(TimePoint::max(), source.get_token()));
}

TEST(SteadyClock, StatesALagOfAtLeastATickOfTheKernel) {
  timespec tick{};
  ASSERT_EQ(::clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
  EXPECT_GE(steady_clock().coarse_lag(), Duration{tick.tv_nsec});
  EXPECT_LE(steady_clock().coarse_lag(), 1s);
}

TEST(SteadyClock, CoarseReadingAdvances) {
  const TimePoint before = steady_clock().coarse_now();
  const TimePoint limit = steady_clock().now() + 10s;
  while (steady_clock().coarse_now() == before && steady_clock().now() < limit) {
  }
  EXPECT_GT(steady_clock().coarse_now(), before);
}

TEST(BootClock, HasNoCoarseLag) { EXPECT_EQ(boot_clock().coarse_lag(), Duration::zero()); }

TEST(BootClock, IsNotBehindTheSteadyClock) {
  const TimePoint steady = steady_clock().now();
  EXPECT_LE(steady, boot_clock().now());
}

}  // namespace
}  // namespace holdfast::base
