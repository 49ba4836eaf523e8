#include <holdfast/locks/internal/presence.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;

const std::vector<base::LeaseId> kTwoLeases{base::LeaseId(1, 2), base::LeaseId(3, 4)};

store::Claim claim_of(std::string_view reason) {
  return {.id = base::LeaseId(5, 6),
          .owner = "ci@web1:41",
          .reason = reason,
          .ttl = 1s,
          .permits = store::Permits::of(2, 3)};
}

// Returns what a store shows of this presence after so long.
store::Holder holder_of(const Presence& presence, base::Duration held_for) {
  return {.id = presence.claim().id,
          .owner = std::string(presence.claim().owner),
          .reason = std::string(presence.claim().reason),
          .permits = 1,
          .token = base::FencingToken(1),
          .held_for = held_for,
          .time_left = presence.claim().ttl.unchecked() - 300ms,
          .foreign = false};
}

TEST(PresenceTest, TellsWhatAWaiterWants) {
  const store::Claim claim = claim_of("deploy 812 of all");
  const Presence presence("job", claim, kTwoLeases, 1003ms);
  EXPECT_EQ(presence.name(), "holdfast.waiting/job");
  const Waiter waiter = waiter_from("job", holder_of(presence, 9s));
  EXPECT_EQ(waiter.name, "job");
  EXPECT_EQ(waiter.id, claim.id);
  EXPECT_EQ(waiter.owner, "ci@web1:41");
  EXPECT_EQ(waiter.reason, "deploy 812 of all");
  EXPECT_EQ(waiter.wants, store::Permits::of(2, 3));
  EXPECT_EQ(waiter.holding, kTwoLeases);
  EXPECT_EQ(waiter.waited, 10003ms);
  EXPECT_EQ(waiter.seen_before, 300ms);
}

TEST(PresenceTest, WithoutOtherLeasesOrAReasonThereIsNone) {
  const store::Claim claim = claim_of("");
  const Presence presence("job", claim, {}, 1s);
  const Waiter waiter = waiter_from("job", holder_of(presence, 0s));
  EXPECT_TRUE(waiter.holding.empty());
  EXPECT_EQ(waiter.reason, "");
  EXPECT_EQ(waiter.seen_before, 300ms);
}

TEST(PresenceTest, ItsTextFitsIntoALeaseHoweverMuchThereIsToTell) {
  const std::string reason(store::Claim::kMaxReason, 'x');
  const store::Claim claim = claim_of(reason);
  const Presence presence("job", claim, std::vector(100, base::LeaseId(1, 2)), 1h);
  EXPECT_EQ(presence.claim().reason.size(), store::Claim::kMaxReason);
  const Waiter waiter = waiter_from("job", holder_of(presence, 0s));
  EXPECT_EQ(waiter.holding.size(), 20U);
  EXPECT_TRUE(reason.starts_with(waiter.reason));
  EXPECT_GT(waiter.reason.size(), 100U);
}

TEST(PresenceTest, ATextOfSomebodyElseIsAReasonAndNothingMore) {
  const store::Claim claim = claim_of("");
  const Presence presence("job", claim, {}, 1s);
  for (const std::string text :
       {"", "1/1", "1/1 5 ", "2/1 5  x", "1/1 -5  x", "1/1 5 12, x", "1/1 5 12 x", "a/b c  d",
        "99999999999/1 5  x", "1/1 99999999999  x"}) {
    store::Holder holder = holder_of(presence, 2s);
    holder.reason = text;
    const Waiter waiter = waiter_from("job", holder);
    EXPECT_EQ(waiter.reason, text);
    EXPECT_EQ(waiter.wants, store::Permits::mutex()) << text;
    EXPECT_TRUE(waiter.holding.empty()) << text;
    EXPECT_EQ(waiter.waited, 2s) << text;
  }
}

TEST(PresenceTest, ANameOfAThousandBytesHasRoomForOne) {
  EXPECT_TRUE(Presence::fits(std::string(1000, 'x')));
  EXPECT_FALSE(Presence::fits(std::string(1024, 'x')));
}

}  // namespace
}  // namespace holdfast::locks::internal
