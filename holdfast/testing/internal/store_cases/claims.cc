#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using store::Claim;
using store::Permits;

constexpr StoreCase kCases[] = {
    {"ClaimOnAFreeNameIsGranted",
     [](StoreRun& run) {
       const Claim claim = wish();
       const store::Grant grant = granted(run.store().claim("job", claim));
       EXPECT_GT(grant.token.value(), 0U);
       EXPECT_GT(grant.time_left, base::Duration::zero());
       EXPECT_LE(grant.time_left, kLong);
       const auto holders = run.holders("job");
       ASSERT_EQ(holders.size(), 1U);
       EXPECT_EQ(holders[0].id, claim.id);
       EXPECT_EQ(holders[0].token, grant.token);
     }},

    {"ClaimOnAHeldNameIsBusyAndSaysWhoHoldsIt",
     [](StoreRun& run) {
       Claim first = wish();
       first.owner = "ci@host:41";
       first.reason = "deploy 812";
       const store::Grant grant = granted(run.store().claim("job", first));
       const store::Busy answer = busy(run.store().claim("job", wish()));
       ASSERT_EQ(answer.holders.size(), 1U);
       const store::Holder& holder = answer.holders[0];
       EXPECT_EQ(holder.id, first.id);
       EXPECT_EQ(holder.owner, "ci@host:41");
       EXPECT_EQ(holder.reason, "deploy 812");
       EXPECT_EQ(holder.permits, 1U);
       EXPECT_EQ(holder.token, grant.token);
       EXPECT_FALSE(holder.foreign);
       EXPECT_GE(holder.held_for, base::Duration::zero());
       EXPECT_GT(holder.time_left, base::Duration::zero());
       EXPECT_LE(holder.time_left, kLong);
       EXPECT_EQ(answer.frees_in, holder.time_left);
     }},

    {"OwnerAndReasonAreKeptByteForByte",
     [](StoreRun& run) {
       const std::string owner = std::string("\0'\"\\\n%{}$:", 10) + "\xc3\xa9\xff";
       Claim longest = wish();
       const std::string reason(Claim::kMaxReason, '\x80');
       longest.owner = owner;
       longest.reason = reason;
       (void)granted(run.store().claim("job", longest));
       Claim shortest = wish();
       shortest.owner = "o";
       shortest.reason = "";
       (void)granted(run.store().claim("other", shortest));
       EXPECT_EQ(run.holders("job").at(0).owner, owner);
       EXPECT_EQ(run.holders("job").at(0).reason, reason);
       EXPECT_EQ(run.holders("other").at(0).reason, "");
     }},

    {"ClaimAgainWithTheSameIdReturnsTheSameToken",
     [](StoreRun& run) {
       const Claim claim = wish();
       const store::Grant first = granted(run.store().claim("job", claim));
       const store::Grant again = granted(run.store().claim("job", claim));
       EXPECT_EQ(again.token, first.token);
       EXPECT_EQ(run.holders("job").size(), 1U);
     }},

    {"ClaimAgainWithTheSameIdExtendsTheLeaseToTheTtl",
     [](StoreRun& run) {
       for (const Permits permits : {Permits::mutex(), Permits::of(2, 3)}) {
         const std::string name = "job" + std::to_string(permits.capacity);
         Claim claim = wish(run.ttl(), permits);
         (void)granted(run.store().claim(name, claim));
         claim.ttl = kLong;
         EXPECT_GT(granted(run.store().claim(name, claim)).time_left, kLong / 2);
         run.pass(run.ttl());
         EXPECT_EQ(run.holders(name).size(), 1U);
       }
     }},

    {"ClaimAgainWithTheSameIdNeverShortens",
     [](StoreRun& run) {
       for (const Permits permits : {Permits::mutex(), Permits::of(2, 3)}) {
         const std::string name = "job" + std::to_string(permits.capacity);
         Claim claim = wish(kLong, permits);
         (void)granted(run.store().claim(name, claim));
         claim.ttl = run.ttl();
         EXPECT_GT(granted(run.store().claim(name, claim)).time_left, kLong / 2);
         run.pass(run.ttl());
         EXPECT_EQ(run.holders(name).size(), 1U);
       }
     }},

    {"ClaimOnAnExpiredLeaseIsGrantedWithAGreaterToken",
     [](StoreRun& run) {
       const store::Grant dead = granted(run.store().claim("job", wish(run.ttl())));
       run.pass(run.ttl());
       const store::Grant next = granted(run.store().claim("job", wish()));
       EXPECT_GT(next.token, dead.token);
       EXPECT_EQ(run.holders("job").size(), 1U);
     }},

    {"ClaimAgainWithTheIdOfAnExpiredLeaseIsANewGrant",
     [](StoreRun& run) {
       const Claim claim = wish(run.ttl());
       const store::Grant dead = granted(run.store().claim("job", claim));
       run.pass(run.ttl());
       EXPECT_GT(granted(run.store().claim("job", claim)).token, dead.token);
     }},

    {"ALeaseLivesUntilTheVeryEndOfItsTtl",
     [](StoreRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       (void)granted(run.store().claim("job", wish(std::chrono::seconds(10))));
       run.pass(std::chrono::milliseconds(9'999));
       EXPECT_EQ(busy(run.store().claim("job", wish())).frees_in, std::chrono::milliseconds(1));
       run.pass(std::chrono::milliseconds(1));
       (void)granted(run.store().claim("job", wish()));
     }},

    {"ARejectedClaimChangesNothing",
     [](StoreRun& run) {
       const Claim holder = wish();
       const store::Grant grant = granted(run.store().claim("job", holder));
       const Claim rejected = wish();
       (void)busy(run.store().claim("job", rejected));
       (void)busy(run.store().claim("job", rejected));
       ASSERT_EQ(run.holders("job").size(), 1U);
       EXPECT_EQ(run.holders("job")[0].token, grant.token);
       EXPECT_EQ(granted(run.store().claim("job", holder)).token, grant.token);
       EXPECT_EQ(run.release("job", rejected.id), store::ReleaseOutcome::not_held);
       EXPECT_EQ(run.renew("job", rejected.id, kLong), store::RenewOutcome::lost);
     }},

    {"ExactlyOneOfManyConcurrentClaimsWins",
     [](StoreRun& run) {
       for (int round = 0; round < scaled(40); ++round) {
         const std::string name = "round " + std::to_string(round);
         std::atomic<int> grants = 0;
         std::atomic<int> errors = 0;
         together(8, [&](int) {
           const auto outcome = run.store().claim(name, wish());
           grants += outcome && std::holds_alternative<store::Grant>(*outcome) ? 1 : 0;
           errors += outcome ? 0 : 1;
         });
         ASSERT_EQ(grants, 1);
         ASSERT_EQ(errors, 0);
       }
     }},

    {"AnotherHandleSeesTheSameLeases",
     [](StoreRun& run) {
       const Claim claim = wish();
       const store::Grant grant = granted(run.store().claim("job", claim));
       const auto other = run.open();
       EXPECT_EQ(busy(other->claim("job", wish())).holders.at(0).token, grant.token);
       EXPECT_EQ(granted(other->claim("job", claim)).token, grant.token);
       EXPECT_EQ(other->release("job", claim.id), store::ReleaseOutcome::released);
       EXPECT_TRUE(run.holders("job").empty());
     }},

    {"ADeadlineInThePastEndsTheCallAndAnUnavailableStoreHasChangedNothing",
     [](StoreRun& run) {
       const auto outcome = run.store().claim("job", wish(), base::Deadline::at(base::TimePoint{}));
       if (outcome) {
         EXPECT_EQ(run.holders("job").size(), is_granted(outcome) ? 1U : 0U);
       } else if (outcome.error().code == ErrorCode::unavailable) {
         EXPECT_TRUE(run.holders("job").empty());
       } else {
         EXPECT_EQ(outcome.error().code, ErrorCode::unknown_outcome);
       }
     }},

    {"BadArgumentsAreRejectedAndChangeNothing",
     [](StoreRun& run) {
       Claim no_id = wish();
       no_id.id = base::LeaseId();
       EXPECT_EQ(error_of(run.store().claim("job", no_id)), ErrorCode::invalid_argument);
       const Claim brief = wish(store::LeaseStore::kMinTtl - base::Duration(1));
       EXPECT_EQ(error_of(run.store().claim("job", brief)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.store().claim("job", wish(kLong, store::Permits::of(2, 1)))),
                 ErrorCode::invalid_argument);
       EXPECT_TRUE(run.holders("job").empty());
     }},
};

}  // namespace

std::span<const StoreCase> claim_cases() { return kCases; }

}  // namespace holdfast::testing::internal
