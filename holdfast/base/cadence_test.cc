#include <holdfast/base/cadence.h>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint at(Duration time) { return TimePoint(time); }

TEST(Cadence, TheNextTickIsOnePeriodAfterTheLastHoweverLongTheWorkTook) {
  EXPECT_EQ(next_tick(at(10s), at(10s), 10s), at(20s));
  EXPECT_EQ(next_tick(at(10s), at(19s), 10s), at(20s));
}

TEST(Cadence, TicksThatPassedDuringTheWorkAreSkippedAndTheCadenceIsKept) {
  EXPECT_EQ(next_tick(at(10s), at(20s), 10s), at(30s));
  EXPECT_EQ(next_tick(at(10s), at(47s), 10s), at(50s));
}

TEST(Cadence, DoesNotDriftOverManyTicksOfUnevenWork) {
  TimePoint tick = at(0s);
  for (int i = 0; i < 1000; ++i) {
    tick = next_tick(tick, tick + std::chrono::milliseconds(i % 900), 1s);
  }
  EXPECT_EQ(tick, at(1000s));
}

TEST(Cadence, StopsAtTheEndOfTime) {
  EXPECT_EQ(next_tick(TimePoint::max() - 1s, TimePoint::max() - 1s, 10s), TimePoint::max());
}

}  // namespace
}  // namespace holdfast::base
