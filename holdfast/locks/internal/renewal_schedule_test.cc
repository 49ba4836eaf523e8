#include <holdfast/locks/internal/renewal_schedule.h>

#include <gtest/gtest.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;
using base::Duration;
using base::TimePoint;

TimePoint at(Duration time) { return TimePoint(time); }

TEST(RenewalSchedule, ALeaseIsValidFromTheSendForItsTtlLessAMargin) {
  const RenewalSchedule schedule(at(100s), 30s, 10s, std::nullopt);
  EXPECT_EQ(schedule.valid_until(), at(130s - RenewalSchedule::margin(30s)));
  EXPECT_LT(schedule.valid_until(), at(130s));
  EXPECT_EQ(schedule.renew_at(), at(110s));
}

TEST(RenewalSchedule, AGrantOfLessThanTheTtlIsValidForWhatTheStoreSays) {
  const RenewalSchedule schedule(at(100s), 30s, 10s, std::nullopt, 6s);
  EXPECT_EQ(schedule.valid_until(), at(106s - RenewalSchedule::margin(6s)));
  EXPECT_EQ(schedule.renew_at(), at(102s));
}

TEST(RenewalSchedule, ARenewalCountsFromItsOwnSend) {
  RenewalSchedule schedule(at(100s), 30s, 10s, std::nullopt);
  schedule.on_renewed(at(111s));
  EXPECT_EQ(schedule.valid_until(), at(141s - RenewalSchedule::margin(30s)));
  EXPECT_EQ(schedule.renew_at(), at(121s));
}

TEST(RenewalSchedule, ALateReplyToAnEarlierSendNeverShortens) {
  RenewalSchedule schedule(at(100s), 30s, 10s, std::nullopt);
  schedule.on_renewed(at(120s));
  const TimePoint before = schedule.valid_until();
  schedule.on_renewed(at(110s));
  EXPECT_EQ(schedule.valid_until(), before);
}

TEST(RenewalSchedule, AFailureIsRepeatedSeveralTimesBeforeTheLeaseEnds) {
  RenewalSchedule schedule(at(0s), 30s, 10s, std::nullopt);
  TimePoint now = schedule.renew_at();
  int tries = 0;
  while (now < schedule.valid_until()) {
    schedule.on_failed(now);
    ASSERT_GT(schedule.renew_at(), now);
    now = schedule.renew_at();
    ++tries;
  }
  EXPECT_GE(tries, 5);
  EXPECT_EQ(schedule.valid_until(), at(30s - RenewalSchedule::margin(30s)));
}

TEST(RenewalSchedule, RenewalEndsAtTheMaximumHold) {
  RenewalSchedule schedule(at(0s), 30s, 10s, 25s);
  EXPECT_EQ(schedule.renew_at(), at(10s));
  schedule.on_renewed(at(10s));
  EXPECT_EQ(schedule.renew_at(), at(20s));
  schedule.on_renewed(at(20s));
  EXPECT_EQ(schedule.renew_at(), TimePoint::max());
  EXPECT_LE(schedule.valid_until(), at(50s));
}

}  // namespace
}  // namespace holdfast::locks::internal
