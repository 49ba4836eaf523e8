#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using store::Claim;
using store::Grant;
using store::RenewOutcome;

constexpr StoreCase kCases[] = {
    {"RenewExtendsOurs",
     [](StoreRun& run) {
       const Claim claim = wish(run.ttl());
       (void)granted(run.store().claim("job", claim));
       EXPECT_EQ(run.renew("job", claim.id, kLong), RenewOutcome::renewed);
       run.pass(run.ttl());
       const auto holders = run.holders("job");
       ASSERT_EQ(holders.size(), 1U);
       EXPECT_EQ(holders[0].id, claim.id);
       EXPECT_GT(holders[0].time_left, run.ttl());
       EXPECT_LE(holders[0].time_left, kLong);
     }},

    {"RenewKeepsTokenOwnerAndReason",
     [](StoreRun& run) {
       const Claim claim = wish();
       const Grant grant = granted(run.store().claim("job", claim));
       ASSERT_EQ(run.renew("job", claim.id, kLong), RenewOutcome::renewed);
       const store::Holder holder = run.holders("job").at(0);
       EXPECT_EQ(holder.token, grant.token);
       EXPECT_EQ(holder.owner, claim.owner);
       EXPECT_EQ(holder.reason, claim.reason);
     }},

    {"RenewOfAnExpiredLeaseIsLostAndRestoresNothing",
     [](StoreRun& run) {
       const Claim claim = wish(run.ttl());
       (void)granted(run.store().claim("job", claim));
       run.pass(run.ttl());
       EXPECT_EQ(run.renew("job", claim.id, kLong), RenewOutcome::lost);
       EXPECT_TRUE(run.holders("job").empty());
       EXPECT_EQ(run.renew("job", claim.id, kLong), RenewOutcome::lost);
     }},

    {"RenewOfAReplacedLeaseIsLostAndLeavesTheSuccessorAlone",
     [](StoreRun& run) {
       const Claim dead = wish(run.ttl());
       (void)granted(run.store().claim("job", dead));
       run.pass(run.ttl());
       const Claim next = wish(run.ttl());
       (void)granted(run.store().claim("job", next));
       EXPECT_EQ(run.renew("job", dead.id, kLong), RenewOutcome::lost);
       const auto holders = run.holders("job");
       ASSERT_EQ(holders.size(), 1U);
       EXPECT_EQ(holders[0].id, next.id);
       EXPECT_LE(holders[0].time_left, run.ttl());
     }},

    {"RenewOfAReleasedOrUnknownLeaseIsLost",
     [](StoreRun& run) {
       const Claim claim = wish();
       (void)granted(run.store().claim("job", claim));
       run.release("job", claim.id);
       EXPECT_EQ(run.renew("job", claim.id, kLong), RenewOutcome::lost);
       EXPECT_EQ(run.renew("never seen", claim.id, kLong), RenewOutcome::lost);
       EXPECT_TRUE(run.holders("job").empty());
       EXPECT_TRUE(run.holders("never seen").empty());
     }},

    {"AShorterRenewNeverShortens",
     [](StoreRun& run) {
       const Claim claim = wish(kLong);
       (void)granted(run.store().claim("job", claim));
       EXPECT_EQ(run.renew("job", claim.id, run.ttl()), RenewOutcome::renewed);
       run.pass(run.ttl());
       EXPECT_EQ(run.renew("job", claim.id, run.ttl()), RenewOutcome::renewed);
       EXPECT_GT(run.holders("job").at(0).time_left, run.ttl());
     }},

    {"RenewingOneHolderDoesNotRenewAnother",
     [](StoreRun& run) {
       const Claim one = wish(run.ttl(), store::Permits::of(1, 2));
       const Claim two = wish(run.ttl(), store::Permits::of(1, 2));
       (void)granted(run.store().claim("pool", one));
       (void)granted(run.store().claim("pool", two));
       EXPECT_EQ(run.renew("pool", one.id, kLong), RenewOutcome::renewed);
       run.pass(run.ttl());
       const auto holders = run.holders("pool");
       ASSERT_EQ(holders.size(), 1U);
       EXPECT_EQ(holders[0].id, one.id);
       EXPECT_EQ(run.renew("pool", two.id, kLong), RenewOutcome::lost);
     }},

    {"AnEmptyBatchIsValid",
     [](StoreRun& run) { EXPECT_TRUE(base::value_or_throw(run.store().renew({})).empty()); }},

    {"OneLeaseTwiceInABatchIsAnsweredTwice",
     [](StoreRun& run) {
       const Claim claim = wish();
       (void)granted(run.store().claim("job", claim));
       const store::Renewal renewal{.name = "job", .id = claim.id, .ttl = kLong};
       const std::vector batch{renewal, renewal};
       EXPECT_EQ(base::value_or_throw(run.store().renew(batch)),
                 (std::vector{RenewOutcome::renewed, RenewOutcome::renewed}));
     }},

    {"ABatchOfAThousandReportsExactlyTheLost",
     [](StoreRun& run) {
       const int count = scaled(1'000);
       std::vector<std::string> names;
       std::vector<base::LeaseId> ids;
       std::vector<RenewOutcome> expected;
       for (int i = 0; i < count; ++i) {
         const Claim claim = wish();
         names.push_back("batch/" + std::to_string(i));
         ids.push_back(claim.id);
         (void)granted(run.store().claim(names.back(), claim));
         // In every ten, one is released, one replaced, and one renewed with a wrong id.
         if (i % 10 == 3 || i % 10 == 5) {
           run.release(names.back(), claim.id);
         }
         if (i % 10 == 5) {
           (void)granted(run.store().claim(names.back(), wish()));
         }
         if (i % 10 == 7) {
           ids.back() = base::LeaseId::generate();
         }
         const bool lost = i % 10 == 3 || i % 10 == 5 || i % 10 == 7;
         expected.push_back(lost ? RenewOutcome::lost : RenewOutcome::renewed);
       }
       std::vector<store::Renewal> batch;
       for (std::size_t i = 0; i < names.size(); ++i) {
         batch.push_back({.name = names[i], .id = ids[i], .ttl = kLong});
       }
       EXPECT_EQ(base::value_or_throw(run.store().renew(batch)), expected);
       EXPECT_TRUE(run.holders("batch/3").empty());
       EXPECT_EQ(run.holders("batch/5").size(), 1U);
     }},
};

}  // namespace

std::span<const StoreCase> renewal_cases() { return kCases; }

}  // namespace holdfast::testing::internal
