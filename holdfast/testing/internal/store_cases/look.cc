#include <gtest/gtest.h>

#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using store::Claim;

constexpr StoreCase kCases[] = {
    {"LookAtAHeldNameReturnsItsWholeState",
     [](StoreRun& run) {
       Claim claim = wish(kLong, store::Permits::of(2, 5));
       claim.owner = "me";
       claim.reason = "to see";
       const store::Grant grant = granted(run.store().claim("pool", claim));
       const auto state = base::value_or_throw(run.store().look("pool"));
       ASSERT_TRUE(state);
       EXPECT_EQ(state->name.view(), "pool");
       EXPECT_EQ(state->capacity, 5U);
       ASSERT_EQ(state->holders.size(), 1U);
       const store::Holder& holder = state->holders[0];
       EXPECT_EQ(holder.id, claim.id);
       EXPECT_EQ(holder.owner, "me");
       EXPECT_EQ(holder.reason, "to see");
       EXPECT_EQ(holder.permits, 2U);
       EXPECT_EQ(holder.token, grant.token);
       EXPECT_GE(holder.held_for, base::Duration::zero());
       EXPECT_GT(holder.time_left, base::Duration::zero());
       EXPECT_LE(holder.time_left, kLong);
     }},

    {"LookAtAnAbsentReleasedOrExpiredNameReturnsNullopt",
     [](StoreRun& run) {
       EXPECT_FALSE(base::value_or_throw(run.store().look("never seen")));
       const Claim claim = wish();
       (void)granted(run.store().claim("released", claim));
       run.release("released", claim.id);
       EXPECT_FALSE(base::value_or_throw(run.store().look("released")));
       (void)granted(run.store().claim("expired", wish(run.ttl())));
       run.pass(run.ttl());
       EXPECT_FALSE(base::value_or_throw(run.store().look("expired")));
     }},

    {"LookShowsHoldersOldestFirstAndNoExpiredOnes",
     [](StoreRun& run) {
       const Claim one = wish(kLong, store::Permits::reader());
       const Claim brief = wish(run.ttl(), store::Permits::reader());
       const Claim two = wish(kLong, store::Permits::reader());
       (void)granted(run.store().claim("data", one));
       (void)granted(run.store().claim("data", brief));
       (void)granted(run.store().claim("data", two));
       EXPECT_EQ(run.holders("data").size(), 3U);
       run.pass(run.ttl());
       const auto holders = run.holders("data");
       ASSERT_EQ(holders.size(), 2U);
       EXPECT_EQ(holders[0].id, one.id);
       EXPECT_EQ(holders[1].id, two.id);
     }},

    {"TimeHeldAndTimeLeftFollowTheStoresClock",
     [](StoreRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       (void)granted(run.store().claim("job", wish(std::chrono::seconds(10))));
       run.pass(std::chrono::seconds(4));
       const store::Holder holder = run.holders("job").at(0);
       EXPECT_EQ(holder.held_for, std::chrono::seconds(4));
       EXPECT_EQ(holder.time_left, std::chrono::seconds(6));
     }},

    {"LookChangesNothing",
     [](StoreRun& run) {
       const Claim claim = wish(run.ttl());
       const store::Grant grant = granted(run.store().claim("job", claim));
       (void)run.holders("job");
       EXPECT_EQ(granted(run.store().claim("job", claim)).token, grant.token);
       run.pass(run.ttl());
       EXPECT_TRUE(run.holders("job").empty());
     }},
};

}  // namespace

std::span<const StoreCase> look_cases() { return kCases; }

}  // namespace holdfast::testing::internal
