#include <string>

#include <gtest/gtest.h>

#include "apps/holdfast/serve/chronicle.h"

namespace holdfast::cli::serve {

namespace {

using namespace std::chrono_literals;

store::Holder holder(std::uint64_t id, base::Duration held_for, base::Duration left = 10s) {
  return {.id = base::LeaseId(1, id),
          .owner = "owner" + std::to_string(id),
          .reason = "",
          .token = base::FencingToken(id),
          .held_for = held_for,
          .time_left = left};
}

locks::Waiter waiter(std::uint64_t id, base::Duration waited) {
  return {.name = "job",
          .id = base::LeaseId(1, id),
          .owner = "owner" + std::to_string(id),
          .reason = "",
          .wants = {},
          .holding = {},
          .waited = waited,
          .seen_before = {}};
}

class ChronicleTest : public ::testing::Test {
 protected:
  // A listing a second after the one before.
  void see(std::vector<std::pair<std::string, Entry>> entries) {
    now_ += 1s;
    chronicle_.update({.entries = std::move(entries), .taken = now_});
  }
  static std::pair<std::string, Entry> held(const std::string& name, const store::Holder& by,
                                            std::vector<locks::Waiter> waiters = {}) {
    return {name, {store::NameState{*base::Name::make(name), 1, {by}}, std::move(waiters)}};
  }

  base::TimePoint now_ = base::TimePoint(1h);
  Chronicle chronicle_{100'000};
};

TEST_F(ChronicleTest, AHoldLastsFromItsGrantToItsRelease) {
  see({held("job", holder(1, 5s))});
  see({held("job", holder(1, 6s))});
  see({});
  const auto holds = chronicle_.of("job").holds;
  ASSERT_EQ(holds.size(), 1U);
  EXPECT_EQ(holds[0].from, base::TimePoint(1h) - 4s);
  EXPECT_EQ(holds[0].until, now_);
  EXPECT_EQ(holds[0].end, HoldEnd::released);
  EXPECT_FALSE(holds[0].waited);
  EXPECT_EQ(chronicle_.totals().released, 1U);
}

TEST_F(ChronicleTest, ALeaseThatRanOutIsALoss) {
  see({held("job", holder(1, 4s, 1500ms))});
  see({held("job", holder(1, 5s, 500ms))});
  see({});
  ASSERT_EQ(chronicle_.of("job").holds.size(), 1U);
  EXPECT_EQ(chronicle_.of("job").holds[0].end, HoldEnd::expired);
  EXPECT_EQ(chronicle_.totals().expired, 1U);
}

TEST_F(ChronicleTest, ALeaseThatARenewalMayHaveKeptIsNoLoss) {
  see({held("job", holder(1, 5s, 900ms))});
  see({});
  ASSERT_EQ(chronicle_.of("job").holds.size(), 1U);
  EXPECT_EQ(chronicle_.of("job").holds[0].end, HoldEnd::unknown);
  EXPECT_EQ(chronicle_.totals().expired, 0U);
  EXPECT_EQ(chronicle_.totals().ended, 1U);
}

TEST_F(ChronicleTest, AStealOfThisServerIsNoRelease) {
  see({held("job", holder(1, 5s))});
  chronicle_.note_steal(base::LeaseId(1, 1));
  see({});
  EXPECT_EQ(chronicle_.of("job").holds[0].end, HoldEnd::stolen);
  EXPECT_EQ(chronicle_.totals().stolen, 1U);
}

TEST_F(ChronicleTest, AStealThatFailedLeavesARelease) {
  see({held("job", holder(1, 5s))});
  chronicle_.note_steal(base::LeaseId(1, 1));
  chronicle_.forget_steal(base::LeaseId(1, 1));
  see({});
  EXPECT_EQ(chronicle_.of("job").holds[0].end, HoldEnd::released);
}

TEST_F(ChronicleTest, AWaiterThatIsGrantedItsClaimHasWaited) {
  see({held("job", holder(1, 5s), {waiter(2, 3s)})});
  see({held("job", holder(2, 200ms))});
  const auto waits = chronicle_.of("job").waits;
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_TRUE(waits[0].granted);
  EXPECT_EQ(waits[0].until - waits[0].from, 3800ms);
  see({});
  ASSERT_EQ(chronicle_.of("job").holds.size(), 2U);
  EXPECT_EQ(chronicle_.of("job").holds[1].waited, 3800ms);
}

TEST_F(ChronicleTest, AWaiterThatGivesUpWasNotGrantedItsClaim) {
  see({held("job", holder(1, 5s), {waiter(2, 3s)})});
  see({held("job", holder(1, 6s))});
  const base::TimePoint missing = now_;
  see({held("job", holder(1, 7s))});
  ASSERT_EQ(chronicle_.of("job").waits.size(), 1U);
  EXPECT_FALSE(chronicle_.of("job").waits[0].granted);
  EXPECT_EQ(chronicle_.of("job").waits[0].until, missing);
}

TEST_F(ChronicleTest, AGrantBetweenTheTwoLooksOfAListingIsAGrant) {
  see({held("job", holder(1, 5s), {waiter(2, 3s)})});
  see({});
  EXPECT_TRUE(chronicle_.of("job").waits.empty());
  see({held("job", holder(2, 1200ms))});
  ASSERT_EQ(chronicle_.of("job").waits.size(), 1U);
  EXPECT_TRUE(chronicle_.of("job").waits[0].granted);
}

TEST_F(ChronicleTest, ManyHoldsOfOneNameLeaveTheNewest) {
  for (std::uint64_t i = 1; i <= Chronicle::kMostPerName + 50; ++i) {
    see({held("job", holder(i, 500ms))});
  }
  const auto holds = chronicle_.of("job").holds;
  EXPECT_EQ(holds.size(), Chronicle::kMostPerName);
  EXPECT_EQ(holds.back().holder.token, base::FencingToken(Chronicle::kMostPerName + 49));
}

TEST_F(ChronicleTest, ManyNamesLeaveThoseThatChangedLast) {
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    see({held("job" + std::to_string(i), holder(i, 500ms))});
    EXPECT_LE(chronicle_.bytes(), 100'000U);
  }
  EXPECT_TRUE(chronicle_.of("job1").holds.empty());
  EXPECT_EQ(chronicle_.of("job999").holds.size(), 1U);
  EXPECT_LE(chronicle_.events().size(), Chronicle::kMostEvents);
  EXPECT_LE(chronicle_.samples().size(), Chronicle::kMostSamples);
}

TEST(PauseTest, ManyNamesAreListedLessOften) {
  EXPECT_EQ(pause_after(0, 1ms, 1s), 1s);
  EXPECT_EQ(pause_after(10'000, 1ms, 1s), 5s);
  EXPECT_EQ(pause_after(1'000'000, 1ms, 1s), 60s);
  EXPECT_EQ(pause_after(0, 100ms, 1s), 2s);
  EXPECT_EQ(pause_after(0, 1h, 1s), 10s);
  EXPECT_EQ(pause_after(0, 1ms, 30s), 30s);
}

}  // namespace

}  // namespace holdfast::cli::serve
