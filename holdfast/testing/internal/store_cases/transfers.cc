#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using store::Claim;
using store::Grant;

constexpr StoreCase kCases[] = {
    {"TransferFromTheHolderGrantsTheNameWithANewToken",
     [](StoreRun& run) {
       const Claim from = wish();
       const Grant before = granted(run.store().claim("job", from));
       Claim to = wish();
       to.owner = "the next";
       to.reason = "its own";
       const Grant after = handed_over(run.store().transfer("job", from.id, to));
       EXPECT_GT(after.token, before.token);
       EXPECT_LE(after.time_left, kLong);
       const auto holders = run.holders("job");
       ASSERT_EQ(holders.size(), 1U);
       EXPECT_EQ(holders[0].id, to.id);
       EXPECT_EQ(holders[0].owner, "the next");
       EXPECT_EQ(holders[0].reason, "its own");
       EXPECT_EQ(holders[0].token, after.token);
     }},

    {"ATransferEndsTheOldLease",
     [](StoreRun& run) {
       const Claim from = wish();
       const Claim to = wish();
       (void)granted(run.store().claim("job", from));
       (void)handed_over(run.store().transfer("job", from.id, to));
       EXPECT_EQ(run.renew("job", from.id, kLong), store::RenewOutcome::lost);
       EXPECT_EQ(run.release("job", from.id), store::ReleaseOutcome::not_held);
       EXPECT_EQ(run.renew("job", to.id, kLong), store::RenewOutcome::renewed);
       EXPECT_EQ(run.release("job", to.id), store::ReleaseOutcome::released);
     }},

    {"TransferUsesTheNewTtl",
     [](StoreRun& run) {
       const Claim from = wish(kLong);
       const Claim to = wish(run.ttl());
       (void)granted(run.store().claim("job", from));
       (void)handed_over(run.store().transfer("job", from.id, to));
       run.pass(run.ttl());
       EXPECT_TRUE(run.holders("job").empty());
     }},

    {"TransferFromAnotherIdIsLostAndChangesNothing",
     [](StoreRun& run) {
       const Claim holder = wish();
       const Grant grant = granted(run.store().claim("job", holder));
       EXPECT_TRUE(is_lost(run.store().transfer("job", base::LeaseId::generate(), wish())));
       EXPECT_TRUE(is_lost(run.store().transfer("free", holder.id, wish())));
       ASSERT_EQ(run.holders("job").size(), 1U);
       EXPECT_EQ(run.holders("job")[0].token, grant.token);
       EXPECT_TRUE(run.holders("free").empty());
     }},

    {"TransferOfAnExpiredLeaseIsLost",
     [](StoreRun& run) {
       const Claim from = wish(run.ttl());
       (void)granted(run.store().claim("job", from));
       run.pass(run.ttl());
       EXPECT_TRUE(is_lost(run.store().transfer("job", from.id, wish())));
       EXPECT_TRUE(run.holders("job").empty());
     }},

    {"TransferAgainReturnsTheSameGrant",
     [](StoreRun& run) {
       const Claim from = wish();
       const Claim to = wish();
       (void)granted(run.store().claim("job", from));
       const Grant first = handed_over(run.store().transfer("job", from.id, to));
       const Grant again = handed_over(run.store().transfer("job", from.id, to));
       EXPECT_EQ(again.token, first.token);
       EXPECT_EQ(run.holders("job").size(), 1U);
     }},

    {"TransferKeepsThePermits",
     [](StoreRun& run) {
       const Claim from = wish(kLong, store::Permits::of(2, 3));
       (void)granted(run.store().claim("pool", from));
       (void)granted(run.store().claim("pool", wish(kLong, store::Permits::of(1, 3))));
       const Claim more = wish(kLong, store::Permits::of(3, 3));
       EXPECT_EQ(error_of(run.store().transfer("pool", from.id, more)), ErrorCode::conflict);
       const Claim other = wish(kLong, store::Permits::of(2, 4));
       EXPECT_EQ(error_of(run.store().transfer("pool", from.id, other)), ErrorCode::conflict);
       const Claim to = wish(kLong, store::Permits::of(2, 3));
       (void)handed_over(run.store().transfer("pool", from.id, to));
       EXPECT_EQ(run.holders("pool").size(), 2U);
       (void)busy(run.store().claim("pool", wish(kLong, store::Permits::of(1, 3))));
     }},

    {"TransferMayReleaseAPartOfThePermits",
     [](StoreRun& run) {
       const Claim writer = wish(kLong, store::Permits::writer());
       const Grant before = granted(run.store().claim("doc", writer));
       (void)busy(run.store().claim("doc", wish(kLong, store::Permits::reader())));
       Claim same = wish(kLong, store::Permits::reader());
       same.id = writer.id;
       const Grant after = handed_over(run.store().transfer("doc", writer.id, same));
       EXPECT_GT(after.token, before.token);
       // Its reply was lost.
       EXPECT_EQ(handed_over(run.store().transfer("doc", writer.id, same)).token, after.token);
       (void)granted(run.store().claim("doc", wish(kLong, store::Permits::reader())));
       ASSERT_EQ(run.holders("doc").size(), 2U);
       EXPECT_EQ(run.holders("doc")[0].permits, 1U);
       EXPECT_EQ(error_of(run.store().transfer("doc", writer.id, writer)), ErrorCode::conflict);

       const Claim three = wish(kLong, store::Permits::of(3, 4));
       const Claim one = wish(kLong, store::Permits::of(1, 4));
       (void)granted(run.store().claim("pool", three));
       (void)handed_over(run.store().transfer("pool", three.id, one));
       EXPECT_EQ(run.release("pool", three.id), store::ReleaseOutcome::not_held);
       (void)granted(run.store().claim("pool", wish(kLong, store::Permits::of(3, 4))));
     }},

    {"ReleasingAPartWakesAWatcherAndIsNotHeldBack",
     [](StoreRun& run) {
       const Claim writer = wish(kLong, store::Permits::writer());
       (void)granted(run.store().claim("doc", writer));
       Claim other = wish(kLong, store::Permits::writer());
       other.holds_back = kLong;
       (void)busy(run.store().claim("doc", other));
       std::atomic<int> calls = 0;
       const auto watch =
           base::value_or_throw(run.store().watch("doc", [&](const auto&) { ++calls; }));
       (void)busy(run.store().claim("doc", other));
       const int before = calls;
       (void)handed_over(
           run.store().transfer("doc", writer.id, wish(kLong, store::Permits::reader())));
       if (run.store().capabilities().push) {
         EXPECT_TRUE(eventually([&] { return calls > before; }));
       }
     }},

    {"TransferToALeaseThatAlreadyHoldsIsRefused",
     [](StoreRun& run) {
       const Claim one = wish(kLong, store::Permits::of(1, 2));
       const Claim two = wish(kLong, store::Permits::of(1, 2));
       (void)granted(run.store().claim("pool", one));
       (void)granted(run.store().claim("pool", two));
       EXPECT_EQ(error_of(run.store().transfer("pool", one.id, two)), ErrorCode::conflict);
       EXPECT_EQ(run.holders("pool").size(), 2U);
       EXPECT_EQ(run.release("pool", one.id), store::ReleaseOutcome::released);
       EXPECT_EQ(run.release("pool", two.id), store::ReleaseOutcome::released);
     }},

    {"TransferToTheIdOfAnExpiredLeaseIsGranted",
     [](StoreRun& run) {
       const Claim dead = wish(run.ttl(), store::Permits::of(1, 2));
       const Claim from = wish(kLong, store::Permits::of(1, 2));
       (void)granted(run.store().claim("pool", dead));
       (void)granted(run.store().claim("pool", from));
       run.pass(run.ttl());
       (void)handed_over(run.store().transfer("pool", from.id, dead));
       EXPECT_EQ(run.renew("pool", dead.id, kLong), store::RenewOutcome::renewed);
       EXPECT_EQ(run.holders("pool").size(), 1U);
     }},

    {"HoldersAreListedInTheOrderOfTheirGrants",
     [](StoreRun& run) {
       const Claim one = wish(kLong, store::Permits::of(1, 3));
       const Claim two = wish(kLong, store::Permits::of(1, 3));
       const Claim three = wish(kLong, store::Permits::of(1, 3));
       (void)granted(run.store().claim("pool", one));
       (void)granted(run.store().claim("pool", two));
       (void)handed_over(run.store().transfer("pool", one.id, three));
       const auto holders = run.holders("pool");
       ASSERT_EQ(holders.size(), 2U);
       EXPECT_EQ(holders[0].id, two.id);
       EXPECT_EQ(holders[1].id, three.id);
       EXPECT_LT(holders[0].token, holders[1].token);
     }},

    {"ExactlyOneOfManyTransfersFromOneLeaseWins",
     [](StoreRun& run) {
       for (int round = 0; round < scaled(40); ++round) {
         const std::string name = "round " + std::to_string(round);
         const Claim from = wish();
         (void)granted(run.store().claim(name, from));
         std::atomic<int> grants = 0;
         std::atomic<int> losses = 0;
         together(6, [&](int) {
           const auto outcome = run.store().transfer(name, from.id, wish());
           if (outcome) {
             (std::holds_alternative<Grant>(*outcome) ? grants : losses) += 1;
           }
         });
         ASSERT_EQ(grants, 1);
         ASSERT_EQ(losses, 5);
       }
     }},
};

}  // namespace

std::span<const StoreCase> transfer_cases() { return kCases; }

}  // namespace holdfast::testing::internal
