#include <holdfast/locks/internal/claim_schedule.h>

#include <gtest/gtest.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::Duration;
using base::ErrorCode;
using base::TimePoint;

constexpr ClaimSchedule::Pace kPolls{10ms, 80ms, false};
constexpr ClaimSchedule::Pace kPushes{10ms, 80ms, true};
constexpr double kNoJitter = 1.0;  // the full pause
constexpr Duration kLong = 1h;     // the holder's lease ends much later

TimePoint at(Duration time) { return TimePoint(time); }

Duration sleeps_until(const ClaimSchedule::Answer& action) {
  const auto* const sleep = std::get_if<ClaimSchedule::Sleep>(&action);
  return sleep != nullptr ? sleep->until.time_since_epoch() : Duration(-1);
}
ClaimSchedule::GiveUp gives_up(const ClaimSchedule::Answer& action) {
  const auto* const why = std::get_if<ClaimSchedule::GiveUp>(&action);
  EXPECT_NE(why, nullptr);
  return why != nullptr ? *why : ClaimSchedule::GiveUp{ErrorCode::internal, false};
}

TEST(ClaimSchedule, TriesExactlyOnceWithoutAWait) {
  ClaimSchedule schedule(Deadline::at(at(0s)), kPolls);
  schedule.on_claim(at(0s));
  EXPECT_EQ(gives_up(schedule.on_busy(at(0s), kLong, kNoJitter)).code, ErrorCode::timed_out);
}

TEST(ClaimSchedule, TooLateForTheLastClaimItGivesUpWithTheLastFailure) {
  ClaimSchedule schedule(Deadline::at(at(1s)), kPushes);
  schedule.on_claim(at(0s));
  schedule.on_busy(at(0s), kLong, kNoJitter);
  EXPECT_EQ(gives_up(schedule.on_late()).code, ErrorCode::timed_out);
  EXPECT_FALSE(gives_up(schedule.on_late()).may_hold);
  schedule.on_failure(at(1s), ErrorCode::unknown_outcome, kNoJitter);
  EXPECT_EQ(gives_up(schedule.on_late()).code, ErrorCode::unknown_outcome);
  EXPECT_TRUE(gives_up(schedule.on_late()).may_hold);
}

TEST(ClaimSchedule, NoAnswerOfTheStoreMakesItPollFasterThanTheShortestPause) {
  for (const Duration frees_in : {Duration::min(), Duration(-1h), Duration::zero()}) {
    ClaimSchedule schedule(Deadline::never(), kPushes);
    schedule.on_claim(at(0s));
    EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), frees_in, kNoJitter)), 5ms);
  }
  ClaimSchedule schedule(Deadline::never(), kPushes);
  schedule.on_claim(at(0s));
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), Duration::max(), kNoJitter)), 80ms);
}

TEST(ClaimSchedule, TheFurtherBackInTheStoresQueueTheMoreRarelyItPolls) {
  ClaimSchedule schedule(Deadline::never(), kPushes);
  schedule.on_claim(at(0s));
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), kLong, kNoJitter, 1)), 80ms);
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), kLong, kNoJitter, 2)), 160ms);
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), kLong, kNoJitter, 1'000'000)), 1600ms);
}

TEST(ClaimSchedule, OnlyTheFirstInTheStoresQueueComesForTheExpiry) {
  ClaimSchedule schedule(Deadline::at(at(150ms)), kPushes);
  schedule.on_claim(at(0s));
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), 20ms, kNoJitter, 1)), 21ms);
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), 20ms, kNoJitter, 3)), 150ms) << "the deadline";
}

TEST(ClaimSchedule, PollsAtAGrowingPauseUpToTheLongest) {
  ClaimSchedule schedule(Deadline::never(), kPolls);
  schedule.on_claim(at(0s));
  for (const Duration pause : {10ms, 20ms, 40ms, 80ms, 80ms}) {
    EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), kLong, kNoJitter)), pause);
    schedule.on_claim(at(0s));
  }
}

TEST(ClaimSchedule, JitterTakesOffUpToHalfOfThePause) {
  ClaimSchedule schedule(Deadline::never(), kPolls);
  schedule.on_claim(at(0s));
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), kLong, 0.0)), 5ms);
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), kLong, 0.5)), 15ms);
}

TEST(ClaimSchedule, AStoreThatPushesIsPolledAtTheLongestPauseOnly) {
  ClaimSchedule schedule(Deadline::never(), kPushes);
  schedule.on_claim(at(0s));
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), kLong, kNoJitter)), 80ms);
  schedule.on_claim(at(1ms));
}

TEST(ClaimSchedule, ComesBackRightAfterTheHoldersLeaseEnds) {
  ClaimSchedule schedule(Deadline::never(), kPushes);
  schedule.on_claim(at(0s));
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(0s), 7ms, kNoJitter)), 8ms);
}

TEST(ClaimSchedule, SleepsNoLongerThanTheDeadlineAndTriesOnceMoreThere) {
  ClaimSchedule schedule(Deadline::at(at(15ms)), kPushes);
  schedule.on_claim(at(0s));
  EXPECT_EQ(sleeps_until(schedule.on_busy(at(1ms), kLong, kNoJitter)), 15ms);
  schedule.on_claim(at(15ms));
  EXPECT_EQ(gives_up(schedule.on_busy(at(15ms), kLong, kNoJitter)).code, ErrorCode::timed_out);
}

TEST(ClaimSchedule, AStoreThatWasNeverReachedIsAFailureAfterASecondTry) {
  ClaimSchedule schedule(Deadline::never(), kPolls);
  schedule.on_claim(at(0s));
  EXPECT_EQ(sleeps_until(schedule.on_failure(at(0s), ErrorCode::unavailable, kNoJitter)), 10ms);
  schedule.on_claim(at(10ms));
  const auto why = gives_up(schedule.on_failure(at(10ms), ErrorCode::unavailable, kNoJitter));
  EXPECT_EQ(why.code, ErrorCode::unavailable);
  EXPECT_FALSE(why.may_hold);
}

TEST(ClaimSchedule, AStoreThatFailsWhileWaitingIsAskedAgain) {
  ClaimSchedule schedule(Deadline::at(at(1h)), kPolls);
  schedule.on_claim(at(0s));
  schedule.on_busy(at(0s), kLong, kNoJitter);
  for (int i = 0; i < 100; ++i) {
    EXPECT_GT(sleeps_until(schedule.on_failure(at(0s), ErrorCode::unavailable, kNoJitter)), 0ms);
  }
  schedule.on_claim(at(1h));
  EXPECT_EQ(gives_up(schedule.on_failure(at(1h), ErrorCode::unavailable, kNoJitter)).code,
            ErrorCode::unavailable);
}

TEST(ClaimSchedule, OtherFailuresEndItAtOnce) {
  for (const ErrorCode code :
       {ErrorCode::conflict, ErrorCode::corrupt, ErrorCode::invalid_argument}) {
    ClaimSchedule schedule(Deadline::never(), kPolls);
    schedule.on_claim(at(0s));
    EXPECT_EQ(gives_up(schedule.on_failure(at(0s), code, kNoJitter)).code, code);
  }
}

TEST(ClaimSchedule, ALostReplyIsRepeatedAndRememberedUntilTheStoreAnswers) {
  ClaimSchedule schedule(Deadline::never(), kPolls);
  schedule.on_claim(at(0s));
  EXPECT_GT(sleeps_until(schedule.on_failure(at(0s), ErrorCode::unknown_outcome, kNoJitter)), 0ms);
  EXPECT_TRUE(gives_up(schedule.on_stop()).may_hold);
  schedule.on_busy(at(0s), kLong, kNoJitter);
  EXPECT_FALSE(gives_up(schedule.on_stop()).may_hold);
}

TEST(ClaimSchedule, ALostReplyAtTheDeadlineHasToBeReleased) {
  ClaimSchedule schedule(Deadline::at(at(0s)), kPolls);
  schedule.on_claim(at(0s));
  const auto why = gives_up(schedule.on_failure(at(0s), ErrorCode::unknown_outcome, kNoJitter));
  EXPECT_EQ(why.code, ErrorCode::unknown_outcome);
  EXPECT_TRUE(why.may_hold);
}

TEST(ClaimSchedule, StopsWhenToldTo) {
  ClaimSchedule schedule(Deadline::never(), kPolls);
  schedule.on_claim(at(0s));
  EXPECT_EQ(gives_up(schedule.on_stop()).code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace holdfast::locks::internal
