#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/store/lease_rules.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using std::chrono::microseconds;

Instant at(base::Duration time) { return {.time = base::TimePoint{time}}; }

Hit fixed(std::uint32_t limit, std::uint32_t count = 1) {
  return {.limit = limit, .period = 10s, .count = count};
}

Hit sliding(std::uint32_t limit, std::uint32_t count = 1) {
  return {.limit = limit, .period = 10s, .window = Window::sliding, .count = count};
}

bool is_conflict(const base::Result<HitOutcome>& outcome) {
  return !outcome && outcome.error().code == ErrorCode::conflict;
}

TEST(HitRulesFixed, CountsInAWindowThatStartsWithItsFirstHit) {
  Record record;
  EXPECT_EQ(lease_rules::hit(record, fixed(2), at(1s)), (HitOutcome{true, 1, 1, 10s, 0s}));
  EXPECT_EQ(lease_rules::hit(record, fixed(2), at(5s)), (HitOutcome{true, 2, 0, 6s, 0s}));
  EXPECT_EQ(lease_rules::hit(record, fixed(2), at(6s)), (HitOutcome{false, 2, 0, 5s, 5s}));
  EXPECT_EQ(lease_rules::hit(record, fixed(2), at(11s)), (HitOutcome{true, 1, 1, 10s, 0s}));
}

TEST(HitRulesFixed, WithALowerLimitThanBeforeIsRefused) {
  Record record;
  (void)lease_rules::hit(record, fixed(5, 2), at(0s));
  EXPECT_EQ(lease_rules::hit(record, fixed(1), at(0s)), (HitOutcome{false, 2, 0, 10s, 10s}));
}

TEST(HitRules, ARequestToForgetLeavesNoHitsOfEitherWindow) {
  const Hit forget = fixed(0, 0);
  for (const Hit& hit : {fixed(3, 2), sliding(3, 2)}) {
    Record record;
    (void)lease_rules::hit(record, hit, at(0s));
    EXPECT_EQ(lease_rules::hit(record, forget, at(1s)), (HitOutcome{true, 2, 0, 0s, 0s}));
    EXPECT_TRUE(lease_rules::is_tombstone(record, at(1s)));
    EXPECT_EQ(lease_rules::hit(record, forget, at(2s)), (HitOutcome{true, 0, 0, 0s, 0s}));
    EXPECT_EQ(lease_rules::hit(record, hit, at(3s)), (HitOutcome{true, 2, 1, 10s, 0s}));
    EXPECT_EQ(lease_rules::hit(record, forget, at(13s)), (HitOutcome{true, 0, 0, 0s, 0s}));
  }
}

TEST(HitRulesSliding, CountsEachHitForAPeriod) {
  Record record;
  EXPECT_EQ(lease_rules::hit(record, sliding(2), at(1s)), (HitOutcome{true, 1, 1, 10s, 0s}));
  EXPECT_EQ(lease_rules::hit(record, sliding(2), at(5s)), (HitOutcome{true, 2, 0, 10s, 0s}));
  EXPECT_EQ(lease_rules::hit(record, sliding(2), at(6s)), (HitOutcome{false, 2, 0, 9s, 5s}));
  EXPECT_EQ(lease_rules::hit(record, sliding(2), at(11s)), (HitOutcome{true, 2, 0, 10s, 0s}));
  EXPECT_EQ(lease_rules::hit(record, sliding(2), at(11s)), (HitOutcome{false, 2, 0, 10s, 4s}));
  EXPECT_FALSE(lease_rules::is_tombstone(record, at(21s - 1ns)));
  EXPECT_TRUE(lease_rules::is_tombstone(record, at(21s)));
}

TEST(HitRulesSliding, SaysWhenAsManyAsWantedWillFit) {
  Record record;
  (void)lease_rules::hit(record, sliding(4, 2), at(0s));
  (void)lease_rules::hit(record, sliding(4, 2), at(3s));
  EXPECT_EQ(lease_rules::hit(record, sliding(4, 2), at(4s))->retry_after, 6s);
  EXPECT_EQ(lease_rules::hit(record, sliding(4, 3), at(4s))->retry_after, 9s);
  EXPECT_EQ(lease_rules::hit(record, sliding(4, 0), at(4s))->retry_after, 6s);
}

TEST(HitRules, AHitThatCountsNothingChangesNothing) {
  Record record;
  EXPECT_EQ(lease_rules::hit(record, fixed(1, 0), at(0s)), (HitOutcome{true, 0, 1, 0s, 0s}));
  EXPECT_EQ(lease_rules::hit(record, sliding(1, 0), at(0s)), (HitOutcome{true, 0, 1, 0s, 0s}));
  EXPECT_EQ(record, Record{});
  (void)lease_rules::hit(record, sliding(1), at(0s));
  const Record before = record;
  EXPECT_EQ(lease_rules::hit(record, sliding(1, 0), at(4s)), (HitOutcome{false, 1, 0, 6s, 6s}));
  EXPECT_EQ(record, before);
}

TEST(HitRules, FixedAndSlidingWindowsExcludeEachOtherWhileTheyLive) {
  Record record;
  (void)lease_rules::hit(record, fixed(1), at(0s));
  EXPECT_TRUE(is_conflict(lease_rules::hit(record, sliding(1), at(9s))));
  EXPECT_TRUE(lease_rules::hit(record, sliding(1), at(10s))->allowed);
  EXPECT_TRUE(is_conflict(lease_rules::hit(record, fixed(1), at(19s))));
  EXPECT_TRUE(lease_rules::hit(record, fixed(1), at(20s))->allowed);
}

TEST(HitRules, AndLeasesExcludeEachOtherWhileTheyLive) {
  for (const Hit& hit : {fixed(1), sliding(1)}) {
    Record record;
    const Claim claim{.id = {1, 1}, .owner = "me", .reason = "", .ttl = 10s};
    (void)lease_rules::hit(record, hit, at(0s));
    EXPECT_FALSE(lease_rules::claim(record, claim, at(9s)));
    EXPECT_FALSE(lease_rules::is_tombstone(record, at(9s)));
    EXPECT_TRUE(lease_rules::claim(record, claim, at(10s)));
    EXPECT_TRUE(is_conflict(lease_rules::hit(record, hit, at(19s))));
    EXPECT_TRUE(lease_rules::hit(record, hit, at(20s)));
  }
}

// The most hits in any interval as long as the period, and how many were allowed.
class Meter {
 public:
  void note(base::Duration time, base::Duration period, std::uint32_t count) {
    times_.insert(times_.end(), count, time);
    while (times_.front() <= time - period) {
      times_.pop_front();
    }
    most_ = std::max(most_, times_.size());
    total_ += count;
  }
  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] std::size_t total() const { return total_; }

 private:
  std::deque<base::Duration> times_;
  std::size_t most_ = 0;
  std::size_t total_ = 0;
};

TEST(HitRulesSliding, NeverAllowsMoreThanTheLimitInAnyPeriodAndNearlyAsMany) {
  for (const std::uint32_t limit : {1U, 7U, 256U, 257U, 5'000U}) {
    std::mt19937 random(limit);
    Record record;
    Meter meter;
    const base::Duration step = base::Duration(10s) / (limit * 2);
    base::Duration now{};
    std::size_t longest = 0;
    while (now < 100s) {
      now += random() % 8 == 0 ? step * static_cast<int>(random() % 4) : step / 2;
      const Hit hit =
          sliding(limit, 1 + static_cast<std::uint32_t>(random() % std::min(limit, 3U)));
      if (lease_rules::hit(record, hit, at(now))->allowed) {
        meter.note(now, 10s, hit.count);
      }
      longest = std::max(longest, record.log.size());
    }
    EXPECT_LE(meter.most(), limit);
    EXPECT_GE(meter.total(), std::size_t{limit} * 5) << limit;
    EXPECT_LE(longest, Hit::kSteps + 2);
  }
}

TEST(HitRulesSliding, TheLogIsBoundedWhateverThePeriods) {
  std::mt19937 random(7);
  Record record;
  std::uint64_t hits = 0;
  for (int i = 0; i < 5'000; ++i) {
    const Hit hit{.limit = 1'000'000,
                  .period = 100s + microseconds(random() % 100'000'000),
                  .window = Window::sliding};
    ASSERT_TRUE(lease_rules::hit(record, hit, at(i * 1ms))->allowed);
    ++hits;
    ASSERT_LE(record.log.size(), 4 * Hit::kSteps);
  }
  EXPECT_EQ(lease_rules::hit(record, sliding(1'000'000, 0), at(5s))->hits, hits);
}

}  // namespace
}  // namespace holdfast::store
