#include <holdfast/base/saturate.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

TEST(ToDuration, ConvertsWholeUnitsExactly) {
  EXPECT_EQ(to_duration(30s), 30'000'000'000ns);
  EXPECT_EQ(to_duration(-2min), -120s);
  EXPECT_EQ(to_duration(Duration::max()), Duration::max());
  EXPECT_EQ(to_duration(Duration::min()), Duration::min());
}

TEST(ToDuration, SaturatesValuesThatNanosecondsCannotCount) {
  EXPECT_EQ(to_duration(std::chrono::hours::max()), Duration::max());
  EXPECT_EQ(to_duration(std::chrono::hours::min()), Duration::min());
  EXPECT_EQ(to_duration(std::chrono::years::max()), Duration::max());
}

TEST(ToDuration, SaturatesExactlyAtTheEdge) {
  constexpr std::chrono::seconds kLast = std::chrono::floor<std::chrono::seconds>(Duration::max());
  EXPECT_EQ(to_duration(kLast), Duration{kLast});
  EXPECT_EQ(to_duration(kLast + 1s), Duration::max());
  EXPECT_EQ(to_duration(-kLast), -Duration{kLast});
  EXPECT_EQ(to_duration(-kLast - 1s), Duration::min());
}

TEST(ToDuration, CutsOffFractionsOfANanosecond) {
  using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
  EXPECT_EQ(to_duration(Picoseconds{1'999}), 1ns);
  EXPECT_EQ(to_duration(Picoseconds{-999}), 0ns);
}

TEST(ToDuration, UnderstandsPeriodsThatDoNotDivideANanosecond) {
  using Frames = std::chrono::duration<std::int64_t, std::ratio<1, 60>>;
  EXPECT_EQ(to_duration(Frames{60}), 1s);
  EXPECT_EQ(to_duration(Frames{1}), 16'666'666ns);
  EXPECT_EQ(to_duration(Frames::max()), Duration::max());
}

TEST(ToDuration, UnderstandsUnsignedCounts) {
  using Count = std::uint64_t;
  constexpr Count kMost = std::numeric_limits<Count>::max();
  EXPECT_EQ(to_duration(std::chrono::duration<Count>{5}), 5s);
  EXPECT_EQ(to_duration(std::chrono::duration<Count, std::nano>{kMost}), Duration::max());
  EXPECT_EQ(to_duration(std::chrono::duration<Count, std::pico>{kMost}).count(), kMost / 1000);
}

TEST(ToDuration, UnderstandsFloatingPoint) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_duration(Seconds{0.5}), 500ms);
  EXPECT_EQ(to_duration(1.5min), 90s);
  EXPECT_EQ(to_duration(Seconds{1e300}), Duration::max());
  EXPECT_EQ(to_duration(Seconds{-1e300}), Duration::min());
  EXPECT_EQ(to_duration(Seconds{kInfinity}), Duration::max());
  EXPECT_EQ(to_duration(Seconds{-kInfinity}), Duration::min());
  EXPECT_EQ(to_duration(Seconds{std::numeric_limits<double>::quiet_NaN()}), 0ns);
}

TEST(ToDuration, FloatingPointSaturatesExactlyAtTheEdge) {
  using Nanos = std::chrono::duration<double, std::nano>;
  constexpr double kTwoTo63 = 9223372036854775808.0;
  EXPECT_EQ(to_duration(Nanos{kTwoTo63}), Duration::max());
  EXPECT_EQ(to_duration(Nanos{kTwoTo63 - 1024}).count(), std::int64_t{9223372036854774784});
  EXPECT_EQ(to_duration(Nanos{-kTwoTo63}), Duration::min());
}

TEST(ToDuration, WorksAtCompileTime) {
  static_assert(to_duration(2s) == 2'000'000'000ns);
  static_assert(to_duration(std::chrono::hours::max()) == Duration::max());
  static_assert(to_duration(0.5s) == 500ms);
}

TEST(AddSaturating, StopsAtEitherEndOfTime) {
  EXPECT_EQ(add_saturating(TimePoint{1s}, 2s), TimePoint{3s});
  EXPECT_EQ(add_saturating(TimePoint{1ns}, Duration::max()), TimePoint::max());
  EXPECT_EQ(add_saturating(TimePoint{-1ns}, Duration::min()), TimePoint::min());
  EXPECT_EQ(add_saturating(TimePoint::min(), Duration::max()), TimePoint{-1ns});
}

TEST(SubtractSaturating, StopsAtTheLongestDuration) {
  EXPECT_EQ(subtract_saturating(TimePoint{3s}, TimePoint{1s}), 2s);
  EXPECT_EQ(subtract_saturating(TimePoint::max(), TimePoint{-1ns}), Duration::max());
  EXPECT_EQ(subtract_saturating(TimePoint::min(), TimePoint{1ns}), Duration::min());
}

}  // namespace
}  // namespace holdfast::base
