#include <holdfast/engines/redis/internal/places.h>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

using namespace std::chrono_literals;
using base::FencingToken;
using base::LeaseId;

constexpr LeaseId kMine{0, 1};
constexpr LeaseId kOther{0, 2};

base::TimePoint at(base::Duration time) { return base::TimePoint{time}; }

// A claim for "job" that was sent at 100 s and refused, and is given the name for 2 s.
struct RedisPlaces : ::testing::Test {
  RedisPlaces() {
    places.enter("job", kMine, "as this", 2s, at(100s));
    EXPECT_TRUE(places.refuse("job", kMine, at(100s), FencingToken(5)));
  }

  Places places;
};

TEST_F(RedisPlaces, WhatIsGivenCountsFromWhenTheRefusedClaimWasSent) {
  places.give("job", kMine, FencingToken(6));
  const auto grant = places.take("job", kMine, at(100'300ms));
  EXPECT_EQ(grant, (store::Grant{.token = FencingToken(6), .time_left = 1'700ms}));
  EXPECT_FALSE(places.take("job", kMine, at(100'300ms)));
  EXPECT_TRUE(places.is_empty());
}

TEST_F(RedisPlaces, NothingIsTakenThatWasNotGiven) {
  EXPECT_FALSE(places.take("job", kMine, at(100s)));
  places.give("job", kOther, FencingToken(6));
  places.give("other", kMine, FencingToken(6));
  EXPECT_FALSE(places.take("job", kMine, at(100s)));
  EXPECT_FALSE(places.take("job", kOther, at(100s)));
  EXPECT_FALSE(places.is_empty());
}

TEST_F(RedisPlaces, WhatIsHeardOfLateIsNotTaken) {
  places.give("job", kMine, FencingToken(6));
  places.refuse("job", kMine, at(103s), FencingToken(7));
  EXPECT_FALSE(places.take("job", kMine, at(103s)));
  places.give("job", kMine, FencingToken(6));
  EXPECT_FALSE(places.take("job", kMine, at(103s)));
  places.give("job", kMine, FencingToken(8));
  EXPECT_TRUE(places.take("job", kMine, at(103s)));
}

TEST_F(RedisPlaces, WhatIsNearlyOverIsNotTaken) {
  places.give("job", kMine, FencingToken(6));
  EXPECT_FALSE(places.take("job", kMine, at(101'001ms)));
  places.give("job", kMine, FencingToken(6));
  EXPECT_TRUE(places.take("job", kMine, at(101s)));
}

// Should the tokens of the name have become smaller, as after a fail-over.
TEST_F(RedisPlaces, WhatWasNotTakenIsNotTakenLater) {
  places.give("job", kMine, FencingToken(6));
  EXPECT_FALSE(places.take("job", kMine, at(102s)));
  places.refuse("job", kMine, at(102s), FencingToken(4));
  EXPECT_FALSE(places.take("job", kMine, at(102s)));
}

TEST_F(RedisPlaces, NothingIsTakenWhereTheHoldersTokenIsNotKnown) {
  places.refuse("job", kMine, at(101s), std::nullopt);
  places.give("job", kMine, FencingToken(6));
  EXPECT_FALSE(places.take("job", kMine, at(101s)));
}

TEST_F(RedisPlaces, NothingIsTakenBeforeAClaimWasRefused) {
  EXPECT_TRUE(places.enter("job", kOther, "as that", 2s, at(100s)));
  EXPECT_FALSE(places.enter("job", kOther, "as that", 2s, at(100s)));
  places.give("job", kOther, FencingToken(6));
  EXPECT_FALSE(places.take("job", kOther, at(100s)));
}

TEST_F(RedisPlaces, OfTwoTimesForWhichItIsGivenTheShorterCounts) {
  EXPECT_FALSE(places.enter("job", kMine, "as that", 1s, at(100s)));
  EXPECT_FALSE(places.enter("job", kMine, "as this", 2s, at(100s)));
  places.give("job", kMine, FencingToken(6));
  const auto grant = places.take("job", kMine, at(100s));
  EXPECT_EQ(grant, (store::Grant{.token = FencingToken(6), .time_left = 1s}));
}

TEST_F(RedisPlaces, WhoHasNotAskedForLongIsForgotten) {
  EXPECT_TRUE(places.enter("other", kOther, "as that", 2s, at(150s)));
  EXPECT_TRUE(places.enter("third", kOther, "as that", 2s, at(170s)));
  EXPECT_EQ(places.member("job", kMine), "");
  EXPECT_EQ(places.member("other", kOther), "as that");
  EXPECT_FALSE(places.refuse("job", kMine, at(170s), FencingToken(5)));
}

TEST_F(RedisPlaces, WhoLeavesIsGivenNothing) {
  EXPECT_EQ(places.member("job", kMine), "as this");
  EXPECT_EQ(places.leave("job", kMine), "as this");
  EXPECT_EQ(places.leave("job", kMine), "");
  EXPECT_EQ(places.member("job", kMine), "");
  places.give("job", kMine, FencingToken(6));
  EXPECT_FALSE(places.take("job", kMine, at(100s)));
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
