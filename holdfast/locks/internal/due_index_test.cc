#include <holdfast/locks/internal/due_index.h>

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/locks/internal/hold.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;
using base::TimePoint;

constexpr std::size_t kAll = 1'000'000;
const store::Claim kClaim{.id = {}, .owner = "me", .reason = "", .ttl = 30s};

TimePoint at(base::Duration time) { return TimePoint(time); }

class DueIndexTest : public ::testing::Test {
 protected:
  Hold& a_hold() {
    holds_.push_back(std::make_unique<Hold>(nullptr, clock_, "job", kClaim, base::FencingToken(1),
                                            RenewalSchedule(TimePoint{}, 30s, 10s, std::nullopt),
                                            OnDestroy::release, 0));
    return *holds_.back();
  }
  std::vector<Hold*> due_at(TimePoint now, std::size_t most = kAll) {
    std::vector<Hold*> due;
    index_.take_due(now, most, due);
    return due;
  }

  const base::ManualClock clock_;
  std::vector<std::unique_ptr<Hold>> holds_;
  DueIndex index_{&Hold::renewal_place};
};

TEST_F(DueIndexTest, AHoldIsDueNeverLateAndEarlyByASixteenthAtMost) {
  for (base::Duration ahead = 1ns; ahead < 24h; ahead = ahead * 3 / 2 + 1ns) {
    const TimePoint now = at(12345s);
    Hold& hold = a_hold();
    const TimePoint due = index_.put(hold, now + ahead, now);
    EXPECT_GT(due, now);
    EXPECT_LE(due, now + ahead);
    EXPECT_GE(due, now + ahead - ahead / 16);
    EXPECT_TRUE(due_at(due - 1ns).empty());
    EXPECT_EQ(due_at(due), std::vector{&hold});
  }
}

TEST_F(DueIndexTest, ATimeThatIsCloseIsExact) {
  EXPECT_EQ(index_.put(a_hold(), at(100s + 15ms), at(100s)), at(100s + 15ms));
}

TEST_F(DueIndexTest, ATimeThatHasPassedIsDueAtOnce) {
  Hold& hold = a_hold();
  index_.put(hold, at(10s), at(20s));
  EXPECT_EQ(due_at(at(20s)), std::vector{&hold});
}

TEST_F(DueIndexTest, TheEarliestComeFirstAndNoMoreThanAskedFor) {
  Hold& late = a_hold();
  Hold& early = a_hold();
  index_.put(late, at(20s), at(0s));
  index_.put(early, at(10s), at(0s));
  EXPECT_EQ(due_at(at(30s), 1), std::vector{&early});
  EXPECT_EQ(due_at(at(30s), 1), std::vector{&late});
  EXPECT_EQ(index_.next(), TimePoint::max());
}

TEST_F(DueIndexTest, ARemovedHoldIsNotDueAndTheOthersAre) {
  std::vector<Hold*> others;
  std::vector<Hold*> removed;
  for (int i = 0; i < 100; ++i) {
    (i % 3 == 0 ? removed : others).push_back(&a_hold());
    index_.put(*holds_.back(), at(10s), at(0s));
  }
  for (Hold* const hold : removed) {
    index_.remove(*hold);
    index_.remove(*hold);  // harmless
  }
  EXPECT_EQ(index_.size(), others.size());
  auto due = due_at(at(10s));
  std::ranges::sort(due);
  std::ranges::sort(others);
  EXPECT_EQ(due, others);
  EXPECT_EQ(index_.size(), 0U);
}

TEST_F(DueIndexTest, AHoldMayBePutBackInAfterItWasDue) {
  Hold& hold = a_hold();
  index_.put(hold, at(10s), at(0s));
  EXPECT_EQ(due_at(at(10s)).size(), 1U);
  index_.put(hold, at(20s), at(10s));
  EXPECT_LE(index_.next(), at(20s));
  EXPECT_EQ(due_at(at(20s)), std::vector{&hold});
}

}  // namespace
}  // namespace holdfast::locks::internal
