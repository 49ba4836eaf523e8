#include <atomic>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using store::Claim;
using store::ReleaseOutcome;

constexpr StoreCase kCases[] = {
    {"ReleaseFreesTheName",
     [](StoreRun& run) {
       const Claim claim = wish();
       (void)granted(run.store().claim("job", claim));
       EXPECT_EQ(run.release("job", claim.id), ReleaseOutcome::released);
       EXPECT_TRUE(run.holders("job").empty());
       (void)granted(run.store().claim("job", wish()));
     }},

    {"ReleaseRemovesOnlyOurs",
     [](StoreRun& run) {
       const Claim holder = wish();
       (void)granted(run.store().claim("job", holder));
       EXPECT_EQ(run.release("job", base::LeaseId::generate()), ReleaseOutcome::not_held);
       EXPECT_EQ(run.release("job", base::LeaseId()), ReleaseOutcome::not_held);
       EXPECT_EQ(run.release("free", holder.id), ReleaseOutcome::not_held);
       ASSERT_EQ(run.holders("job").size(), 1U);
       EXPECT_EQ(run.holders("job")[0].id, holder.id);
     }},

    {"ASecondReleaseIsHarmlessAndReported",
     [](StoreRun& run) {
       const Claim claim = wish();
       (void)granted(run.store().claim("job", claim));
       EXPECT_EQ(run.release("job", claim.id), ReleaseOutcome::released);
       EXPECT_EQ(run.release("job", claim.id), ReleaseOutcome::not_held);
       EXPECT_EQ(run.release("job", claim.id), ReleaseOutcome::not_held);
     }},

    {"AStaleReleaseNeverFreesTheSuccessor",
     [](StoreRun& run) {
       const Claim dead = wish(run.ttl());
       (void)granted(run.store().claim("job", dead));
       run.pass(run.ttl());
       const Claim next = wish();
       (void)granted(run.store().claim("job", next));
       EXPECT_EQ(run.release("job", dead.id), ReleaseOutcome::not_held);
       ASSERT_EQ(run.holders("job").size(), 1U);
       EXPECT_EQ(run.holders("job")[0].id, next.id);
     }},

    {"ReleaseOfAnExpiredLeaseReportsThatItWasNotHeld",
     [](StoreRun& run) {
       const Claim claim = wish(run.ttl());
       (void)granted(run.store().claim("job", claim));
       run.pass(run.ttl());
       EXPECT_EQ(run.release("job", claim.id), ReleaseOutcome::not_held);
     }},

    {"ReleaseOfOneHolderLeavesTheOthers",
     [](StoreRun& run) {
       const Claim one = wish(kLong, store::Permits::reader());
       const Claim two = wish(kLong, store::Permits::reader());
       (void)granted(run.store().claim("data", one));
       (void)granted(run.store().claim("data", two));
       EXPECT_EQ(run.release("data", one.id), ReleaseOutcome::released);
       ASSERT_EQ(run.holders("data").size(), 1U);
       EXPECT_EQ(run.holders("data")[0].id, two.id);
     }},

    {"ExactlyOneOfManyConcurrentReleasesReturnsReleased",
     [](StoreRun& run) {
       for (int round = 0; round < scaled(40); ++round) {
         const Claim claim = wish();
         (void)granted(run.store().claim("job", claim));
         std::atomic<int> released = 0;
         together(4, [&](int) {
           released += run.store().release("job", claim.id) == ReleaseOutcome::released ? 1 : 0;
         });
         ASSERT_EQ(released, 1);
       }
     }},
};

}  // namespace

std::span<const StoreCase> release_cases() { return kCases; }

}  // namespace holdfast::testing::internal
