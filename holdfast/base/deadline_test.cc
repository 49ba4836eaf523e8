#include <holdfast/base/deadline.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

TEST(Deadline, ExpiresAtItsMomentAndNotBefore) {
  ManualClock clock{kStart};
  const Deadline deadline = Deadline::after(clock, 5s);
  clock.advance(5s - 1ns);
  EXPECT_FALSE(deadline.expired(clock.now()));
  EXPECT_EQ(deadline.remaining(clock.now()), 1ns);
  clock.advance(1ns);
  EXPECT_TRUE(deadline.expired(clock.now()));
  EXPECT_EQ(deadline.remaining(clock.now()), 0ns);
  clock.advance(1h);
  EXPECT_TRUE(deadline.expired(clock.now()));
  EXPECT_EQ(deadline.remaining(clock.now()), 0ns);
}

TEST(Deadline, AtKeepsTheMoment) { EXPECT_EQ(Deadline::at(kStart).when(), kStart); }

TEST(Deadline, NeverNeverExpires) {
  const Deadline never = Deadline::never();
  EXPECT_TRUE(never.is_never());
  EXPECT_FALSE(never.expired(TimePoint::max()));
  EXPECT_EQ(never.remaining(TimePoint::max()), Duration::max());
  EXPECT_EQ(never, Deadline::at(TimePoint::max()));
}

TEST(Deadline, AWaitTooLongToCountMeansNever) {
  const ManualClock clock{kStart};
  EXPECT_TRUE(Deadline::after(clock, std::chrono::hours::max()).is_never());
  EXPECT_TRUE(Deadline::after(clock, Duration::max()).is_never());
  EXPECT_TRUE(Deadline::after(clock, Duration::max() - 1ns).is_never());
  EXPECT_TRUE(Deadline::after(ManualClock{TimePoint{-1h}}, Duration::max()).is_never());
}

TEST(Deadline, AWaitThatIsNotPositiveHasExpired) {
  const ManualClock clock{kStart};
  const std::chrono::duration<double> nan{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_TRUE(Deadline::after(clock, 0s).expired(kStart));
  EXPECT_TRUE(Deadline::after(clock, -1ns).expired(kStart));
  EXPECT_TRUE(Deadline::after(clock, Duration::min()).expired(kStart));
  EXPECT_TRUE(Deadline::after(clock, nan).expired(kStart));
}

TEST(Deadline, RemainingDoesNotOverflow) {
  const Deadline last = Deadline::at(TimePoint::max() - 1ns);
  EXPECT_EQ(last.remaining(TimePoint{-1h}), Duration::max());
  EXPECT_EQ(Deadline::at(TimePoint::min()).remaining(kStart), 0ns);
}

TEST(Deadline, TheEarlierIsTheSmaller) {
  const Deadline soon = Deadline::at(kStart);
  const Deadline later = Deadline::at(kStart + 1s);
  EXPECT_EQ(std::min(later, soon), soon);
  EXPECT_EQ(std::min(Deadline::never(), later), later);
}

}  // namespace
}  // namespace holdfast::base
