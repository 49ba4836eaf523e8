#include <holdfast/locks/internal/acquire_machine.h>

#include <gtest/gtest.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::Duration;
using base::ErrorCode;
using base::TimePoint;

constexpr AcquireMachine::Pace kPolls{10ms, 80ms, false};
constexpr AcquireMachine::Pace kPushes{10ms, 80ms, true};
constexpr double kNoJitter = 1.0;  // the full pause
constexpr Duration kLong = 1h;     // the holder's lease ends much later

TimePoint at(Duration time) { return TimePoint(time); }

bool claims(const AcquireMachine::Action& action) {
  return std::holds_alternative<AcquireMachine::Claim>(action);
}
Duration sleeps_until(const AcquireMachine::Action& action) {
  const auto* const sleep = std::get_if<AcquireMachine::Sleep>(&action);
  return sleep != nullptr ? sleep->until.time_since_epoch() : Duration(-1);
}
AcquireMachine::GiveUp gives_up(const AcquireMachine::Action& action) {
  const auto* const why = std::get_if<AcquireMachine::GiveUp>(&action);
  EXPECT_NE(why, nullptr);
  return why != nullptr ? *why : AcquireMachine::GiveUp{ErrorCode::internal, false};
}

TEST(AcquireMachine, ClaimsAtOnce) {
  AcquireMachine machine(Deadline::never(), kPolls);
  EXPECT_TRUE(claims(machine.start(at(0s))));
}

TEST(AcquireMachine, TriesExactlyOnceWithoutAWait) {
  AcquireMachine machine(Deadline::at(at(0s)), kPolls);
  EXPECT_TRUE(claims(machine.start(at(0s))));
  EXPECT_EQ(gives_up(machine.on_busy(at(0s), kLong, kNoJitter)).code, ErrorCode::timed_out);
}

TEST(AcquireMachine, TooLateForTheLastClaimItGivesUpWithTheLastFailure) {
  AcquireMachine machine(Deadline::at(at(1s)), kPushes);
  machine.start(at(0s));
  machine.on_busy(at(0s), kLong, kNoJitter);
  EXPECT_EQ(gives_up(machine.on_late()).code, ErrorCode::timed_out);
  EXPECT_FALSE(gives_up(machine.on_late()).may_hold);
  machine.on_failure(at(1s), ErrorCode::unknown_outcome, kNoJitter);
  EXPECT_EQ(gives_up(machine.on_late()).code, ErrorCode::unknown_outcome);
  EXPECT_TRUE(gives_up(machine.on_late()).may_hold);
}

TEST(AcquireMachine, NoAnswerOfTheStoreMakesItPollFasterThanTheShortestPause) {
  for (const Duration frees_in : {Duration::min(), Duration(-1h), Duration::zero()}) {
    AcquireMachine machine(Deadline::never(), kPushes);
    machine.start(at(0s));
    EXPECT_EQ(sleeps_until(machine.on_busy(at(0s), frees_in, kNoJitter)), 5ms);
  }
  AcquireMachine machine(Deadline::never(), kPushes);
  machine.start(at(0s));
  EXPECT_EQ(sleeps_until(machine.on_busy(at(0s), Duration::max(), kNoJitter)), 80ms);
}

TEST(AcquireMachine, PollsAtAGrowingPauseUpToTheLongest) {
  AcquireMachine machine(Deadline::never(), kPolls);
  machine.start(at(0s));
  for (const Duration pause : {10ms, 20ms, 40ms, 80ms, 80ms}) {
    EXPECT_EQ(sleeps_until(machine.on_busy(at(0s), kLong, kNoJitter)), pause);
    EXPECT_TRUE(claims(machine.on_time(at(0s))));
  }
}

TEST(AcquireMachine, JitterTakesOffUpToHalfOfThePause) {
  AcquireMachine machine(Deadline::never(), kPolls);
  machine.start(at(0s));
  EXPECT_EQ(sleeps_until(machine.on_busy(at(0s), kLong, 0.0)), 5ms);
  EXPECT_EQ(sleeps_until(machine.on_busy(at(0s), kLong, 0.5)), 15ms);
}

TEST(AcquireMachine, AStoreThatPushesIsPolledAtTheLongestPauseOnly) {
  AcquireMachine machine(Deadline::never(), kPushes);
  machine.start(at(0s));
  EXPECT_EQ(sleeps_until(machine.on_busy(at(0s), kLong, kNoJitter)), 80ms);
  EXPECT_TRUE(claims(machine.on_wakeup(at(1ms))));
}

TEST(AcquireMachine, ComesBackRightAfterTheHoldersLeaseEnds) {
  AcquireMachine machine(Deadline::never(), kPushes);
  machine.start(at(0s));
  EXPECT_EQ(sleeps_until(machine.on_busy(at(0s), 7ms, kNoJitter)), 8ms);
}

TEST(AcquireMachine, SleepsNoLongerThanTheDeadlineAndTriesOnceMoreThere) {
  AcquireMachine machine(Deadline::at(at(15ms)), kPushes);
  machine.start(at(0s));
  EXPECT_EQ(sleeps_until(machine.on_busy(at(1ms), kLong, kNoJitter)), 15ms);
  EXPECT_TRUE(claims(machine.on_time(at(15ms))));
  EXPECT_EQ(gives_up(machine.on_busy(at(15ms), kLong, kNoJitter)).code, ErrorCode::timed_out);
}

TEST(AcquireMachine, AStoreThatWasNeverReachedIsAFailureAfterASecondTry) {
  AcquireMachine machine(Deadline::never(), kPolls);
  machine.start(at(0s));
  EXPECT_EQ(sleeps_until(machine.on_failure(at(0s), ErrorCode::unavailable, kNoJitter)), 10ms);
  EXPECT_TRUE(claims(machine.on_time(at(10ms))));
  const auto why = gives_up(machine.on_failure(at(10ms), ErrorCode::unavailable, kNoJitter));
  EXPECT_EQ(why.code, ErrorCode::unavailable);
  EXPECT_FALSE(why.may_hold);
}

TEST(AcquireMachine, AStoreThatFailsWhileWaitingIsAskedAgain) {
  AcquireMachine machine(Deadline::at(at(1h)), kPolls);
  machine.start(at(0s));
  machine.on_busy(at(0s), kLong, kNoJitter);
  for (int i = 0; i < 100; ++i) {
    EXPECT_GT(sleeps_until(machine.on_failure(at(0s), ErrorCode::unavailable, kNoJitter)), 0ms);
  }
  EXPECT_TRUE(claims(machine.on_time(at(1h))));
  EXPECT_EQ(gives_up(machine.on_failure(at(1h), ErrorCode::unavailable, kNoJitter)).code,
            ErrorCode::unavailable);
}

TEST(AcquireMachine, OtherFailuresEndItAtOnce) {
  for (const ErrorCode code :
       {ErrorCode::conflict, ErrorCode::corrupt, ErrorCode::invalid_argument}) {
    AcquireMachine machine(Deadline::never(), kPolls);
    machine.start(at(0s));
    EXPECT_EQ(gives_up(machine.on_failure(at(0s), code, kNoJitter)).code, code);
  }
}

TEST(AcquireMachine, ALostReplyIsRepeatedAndRememberedUntilTheStoreAnswers) {
  AcquireMachine machine(Deadline::never(), kPolls);
  machine.start(at(0s));
  EXPECT_GT(sleeps_until(machine.on_failure(at(0s), ErrorCode::unknown_outcome, kNoJitter)), 0ms);
  EXPECT_TRUE(gives_up(machine.on_stop()).may_hold);
  machine.on_busy(at(0s), kLong, kNoJitter);
  EXPECT_FALSE(gives_up(machine.on_stop()).may_hold);
}

TEST(AcquireMachine, ALostReplyAtTheDeadlineHasToBeReleased) {
  AcquireMachine machine(Deadline::at(at(0s)), kPolls);
  machine.start(at(0s));
  const auto why = gives_up(machine.on_failure(at(0s), ErrorCode::unknown_outcome, kNoJitter));
  EXPECT_EQ(why.code, ErrorCode::unknown_outcome);
  EXPECT_TRUE(why.may_hold);
}

TEST(AcquireMachine, StopsWhenToldTo) {
  AcquireMachine machine(Deadline::never(), kPolls);
  machine.start(at(0s));
  EXPECT_EQ(gives_up(machine.on_stop()).code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace holdfast::locks::internal
