#include <holdfast/engines/redis/internal/queued_claims.h>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

using namespace std::chrono_literals;

constexpr base::LeaseId kOne(0, 1);
constexpr base::LeaseId kTwo(0, 2);

constexpr base::TimePoint at(base::Duration time) { return base::TimePoint(time); }

TEST(RedisQueuedClaims, AClaimIsKnownByItsNameAndItsId) {
  QueuedClaims claims;
  EXPECT_TRUE(claims.is_empty());
  claims.add("job", kOne, at(1h));
  EXPECT_FALSE(claims.is_empty());
  EXPECT_TRUE(claims.contains("job", kOne));
  EXPECT_FALSE(claims.contains("job", kTwo));
  EXPECT_FALSE(claims.contains("other", kOne));
  EXPECT_TRUE(claims.contains("job"));
  EXPECT_FALSE(claims.contains("other"));
}

TEST(RedisQueuedClaims, ARemovedClaimIsForgotten) {
  QueuedClaims claims;
  claims.add("job", kOne, at(1h));
  EXPECT_FALSE(claims.remove("other", kOne));
  EXPECT_TRUE(claims.remove("job", kOne));
  EXPECT_FALSE(claims.remove("job", kOne));
  EXPECT_FALSE(claims.contains("job", kOne));
  EXPECT_TRUE(claims.is_empty());
}

TEST(RedisQueuedClaims, ARemovedClaimIsRememberedUntilItIsHereAgain) {
  QueuedClaims claims;
  claims.add("job", kOne, at(1h));
  EXPECT_FALSE(claims.was_removed("job", kOne));
  EXPECT_TRUE(claims.remove("job", kOne));
  EXPECT_TRUE(claims.was_removed("job", kOne));
  EXPECT_FALSE(claims.was_removed("job", kTwo));
  claims.add("job", kOne, at(1h));
  EXPECT_FALSE(claims.was_removed("job", kOne));
}

TEST(RedisQueuedClaims, AClaimThatIsSentAgainIsNoRemovedOne) {
  QueuedClaims claims;
  claims.add("job", kOne, at(1h));
  EXPECT_TRUE(claims.remove("job", kOne));
  claims.may_join(kOne);
  EXPECT_FALSE(claims.was_removed("job", kOne));
}

TEST(RedisQueuedClaims, TheLastThousandRemovedClaimsAreRemembered) {
  QueuedClaims claims;
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    claims.add("job", base::LeaseId(0, i), at(1h));
    claims.remove("job", base::LeaseId(0, i));
  }
  EXPECT_TRUE(claims.was_removed("job", base::LeaseId(0, 3000)));
  EXPECT_TRUE(claims.was_removed("job", base::LeaseId(0, 2001)));
  EXPECT_FALSE(claims.was_removed("job", base::LeaseId(0, 1900)));
}

TEST(RedisQueuedClaims, ANameMayHaveSeveralClaims) {
  QueuedClaims claims;
  claims.add("job", kOne, at(1h));
  claims.add("job", kTwo, at(1h));
  EXPECT_TRUE(claims.remove("job", kOne));
  EXPECT_FALSE(claims.contains("job", kOne));
  EXPECT_TRUE(claims.contains("job", kTwo));
  EXPECT_TRUE(claims.contains("job"));
}

TEST(RedisQueuedClaims, AClaimThatIsNotRefusedAgainIsForgotten) {
  QueuedClaims claims;
  claims.add("job", kOne, at(1h));
  claims.add("job", kTwo, at(1h));
  claims.add("job", kOne, at(1h + QueuedClaims::kForgotten));
  claims.add("job", kOne, at(1h + 2 * QueuedClaims::kForgotten + 1s));
  EXPECT_TRUE(claims.contains("job", kOne));
  EXPECT_FALSE(claims.contains("job", kTwo));
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
