#include <holdfast/locks/internal/poll_pause.h>

#include <gtest/gtest.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;
using base::Duration;

constexpr double kNoJitter = 1.0;  // the full pause
constexpr Duration kLong = 1h;     // the holder's lease ends much later

PollPause polls() { return {10ms, 80ms, false}; }
PollPause pushes() { return {10ms, 80ms, true}; }

TEST(PollPause, GrowsUpToTheLongest) {
  PollPause pause = polls();
  for (const Duration expected : {10ms, 20ms, 40ms, 80ms, 80ms}) {
    EXPECT_EQ(pause.after_busy(kLong, kNoJitter), expected);
  }
}

TEST(PollPause, GrowsAfterFailuresToo) {
  PollPause pause = polls();
  EXPECT_EQ(pause.after_failure(kNoJitter), 10ms);
  EXPECT_EQ(pause.after_busy(kLong, kNoJitter), 20ms);
  EXPECT_EQ(pause.after_failure(kNoJitter), 40ms);
}

TEST(PollPause, JitterTakesOffUpToHalf) {
  PollPause pause = polls();
  EXPECT_EQ(pause.after_busy(kLong, 0.0), 5ms);
  EXPECT_EQ(pause.after_busy(kLong, 0.5), 15ms);
}

TEST(PollPause, IsTheLongestWhereTheStoreSendsHints) {
  EXPECT_EQ(pushes().after_busy(kLong, kNoJitter), 80ms);
}

TEST(PollPause, EndsRightAfterTheHoldersLease) {
  EXPECT_EQ(pushes().after_busy(7ms, kNoJitter), 8ms);
}

TEST(PollPause, IsLongerFurtherBackInTheStoresQueue) {
  EXPECT_EQ(pushes().after_busy(kLong, kNoJitter, 1), 80ms);
  EXPECT_EQ(pushes().after_busy(kLong, kNoJitter, 2), 160ms);
  EXPECT_EQ(pushes().after_busy(kLong, kNoJitter, 1'000'000), 1600ms);
}

TEST(PollPause, EndsRightAfterTheHoldersLeaseAnywhereInTheStoresQueue) {
  EXPECT_EQ(pushes().after_busy(20ms, kNoJitter, 1), 21ms);
  EXPECT_EQ(pushes().after_busy(20ms, kNoJitter, 3), 21ms);
}

TEST(PollPause, IsNeverSoLongThatTheStoreForgetsTheWaiter) {
  EXPECT_EQ(PollPause(10ms, 10s, true).after_busy(kLong, kNoJitter, 20), 16s);
  EXPECT_EQ(PollPause(10ms, 1min, true).after_busy(kLong, kNoJitter, 20), 1min) << "as asked";
}

TEST(PollPause, NoAnswerOfTheStoreMakesItShorterThanHalfOfTheShortest) {
  for (const Duration frees_in : {Duration::min(), Duration(-1h), Duration::zero()}) {
    EXPECT_EQ(pushes().after_busy(frees_in, kNoJitter), 5ms);
  }
  EXPECT_EQ(pushes().after_busy(Duration::max(), kNoJitter), 80ms);
}

}  // namespace
}  // namespace holdfast::locks::internal
