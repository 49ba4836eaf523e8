#include <holdfast/base/manual_clock.h>

#include <chrono>
#include <future>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

std::future<bool> sleep_in_thread(const ManualClock& clock, TimePoint when,
                                  const std::stop_token& stop = {}) {
  return std::async(std::launch::async,
                    [&clock, when, stop] { return clock.sleep_until(when, stop); });
}

TEST(ManualClock, StandsStillUntilMoved) {
  ManualClock clock{kStart};
  EXPECT_EQ(clock.now(), kStart);
  clock.advance(5s);
  EXPECT_EQ(clock.now(), kStart + 5s);
  clock.set(kStart + 1min);
  EXPECT_EQ(clock.now(), kStart + 1min);
}

TEST(ManualClock, CoarseReadingIsTheExactOne) {
  ManualClock clock{kStart};
  clock.advance(1ns);
  EXPECT_EQ(clock.coarse_now(), kStart + 1ns);
  EXPECT_EQ(clock.coarse_lag(), Duration::zero());
}

TEST(ManualClock, IgnoresBeingMovedBackwards) {
  ManualClock clock{kStart};
  clock.set(kStart - 1ns);
  clock.advance(-1h);
  clock.advance(Duration::min());
  EXPECT_EQ(clock.now(), kStart);
}

TEST(ManualClock, AdvancingPastTheEndOfTimeStopsThere) {
  ManualClock clock{kStart};
  clock.advance(Duration::max());
  EXPECT_EQ(clock.now(), TimePoint::max());
}

TEST(ManualClock, SleepUntilAReachedTimeReturnsAtOnce) {
  const ManualClock clock{kStart};
  EXPECT_TRUE(clock.sleep_until(kStart, {}));
  EXPECT_TRUE(clock.sleep_until(kStart - 1h, {}));
  EXPECT_EQ(clock.sleepers(), 0U);
}

TEST(ManualClock, AdvancingWakesASleeperAtItsTimeAndNotBefore) {
  ManualClock clock{kStart};
  std::future<bool> sleeper = sleep_in_thread(clock, kStart + 10s);
  clock.wait_for_sleepers(1);
  clock.advance(10s - 1ns);
  EXPECT_EQ(clock.sleepers(), 1U);
  clock.advance(1ns);
  EXPECT_TRUE(sleeper.get());
}

TEST(ManualClock, ASleeperStopsCountingTheMomentItsTimeComes) {
  ManualClock clock{kStart};
  std::future<bool> first = sleep_in_thread(clock, kStart + 1s);
  std::future<bool> second = sleep_in_thread(clock, kStart + 2s);
  clock.wait_for_sleepers(2);
  clock.advance(1s);
  EXPECT_EQ(clock.sleepers(), 1U);
  EXPECT_TRUE(first.get());
  clock.advance(1s);
  EXPECT_EQ(clock.sleepers(), 0U);
  EXPECT_TRUE(second.get());
}

TEST(ManualClock, OneMoveWakesEverySleeperItPasses) {
  ManualClock clock{kStart};
  std::vector<std::future<bool>> sleepers;
  for (int i = 1; i <= 8; ++i) sleepers.push_back(sleep_in_thread(clock, kStart + i * 1s));
  clock.wait_for_sleepers(8);
  clock.set(kStart + 1h);
  for (std::future<bool>& sleeper : sleepers) EXPECT_TRUE(sleeper.get());
}

TEST(ManualClock, AStopWakesASleeper) {
  const ManualClock clock{kStart};
  std::stop_source source;
  std::future<bool> sleeper = sleep_in_thread(clock, TimePoint::max(), source.get_token());
  clock.wait_for_sleepers(1);
  source.request_stop();
  EXPECT_FALSE(sleeper.get());
  EXPECT_EQ(clock.sleepers(), 0U);
}

TEST(ManualClock, AStopWakesOnlyItsOwnSleeper) {
  ManualClock clock{kStart};
  std::stop_source source;
  std::future<bool> stopped = sleep_in_thread(clock, kStart + 1s, source.get_token());
  std::future<bool> other = sleep_in_thread(clock, kStart + 1s);
  clock.wait_for_sleepers(2);
  source.request_stop();
  EXPECT_FALSE(stopped.get());
  EXPECT_EQ(clock.sleepers(), 1U);
  clock.advance(1s);
  EXPECT_TRUE(other.get());
}

TEST(ManualClock, AThreadThatSleepsAgainCountsAgain) {
  ManualClock clock{kStart};
  int naps = 0;
  std::jthread napper{[&](const std::stop_token& stop) {
    while (clock.sleep_until(clock.now() + 1s, stop)) ++naps;
  }};
  for (int i = 0; i < 100; ++i) {
    clock.wait_for_sleepers(1);
    clock.advance(1s);
  }
  clock.wait_for_sleepers(1);
  napper.request_stop();
  napper.join();
  EXPECT_EQ(naps, 100);
}

}  // namespace
}  // namespace holdfast::base
