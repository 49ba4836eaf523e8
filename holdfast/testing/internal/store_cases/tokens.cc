#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using store::Claim;
using store::Grant;

constexpr StoreCase kCases[] = {
    {"TokensGrowAcrossRelease",
     [](StoreRun& run) {
       base::FencingToken last(0);
       for (int i = 0; i < 100; ++i) {
         const Claim claim = wish();
         const Grant grant = granted(run.store().claim("job", claim));
         ASSERT_GT(grant.token, last);
         last = grant.token;
         ASSERT_EQ(run.release("job", claim.id), store::ReleaseOutcome::released);
       }
     }},

    {"TokensGrowAcrossReleaseTransferAndExpiry",
     [](StoreRun& run) {
       const Claim first = wish();
       const Grant one = granted(run.store().claim("job", first));
       const Claim second = wish(run.ttl());
       const Grant two = handed_over(run.store().transfer("job", first.id, second));
       EXPECT_GT(two.token, one.token);
       run.pass(run.ttl());
       const Claim third = wish();
       const Grant three = granted(run.store().claim("job", third));
       EXPECT_GT(three.token, two.token);
       run.release("job", third.id);
       EXPECT_GT(granted(run.store().claim("job", wish())).token, three.token);
     }},

    {"TokensGrowAcrossCleanUp",
     [](StoreRun& run) {
       if (!run.place().clean_up) {
         GTEST_SKIP() << "the engine's clean-up cannot be asked for";
       }
       const Claim first = wish();
       const Grant released = granted(run.store().claim("job", first));
       run.release("job", first.id);
       run.place().clean_up();
       const Grant expired = granted(run.store().claim("job", wish(run.ttl())));
       EXPECT_GT(expired.token, released.token);
       run.pass(run.ttl());
       run.place().clean_up();
       EXPECT_GT(granted(run.store().claim("job", wish())).token, expired.token);
     }},

    {"CleanUpLeavesLiveLeasesAlone",
     [](StoreRun& run) {
       if (!run.place().clean_up) {
         GTEST_SKIP() << "the engine's clean-up cannot be asked for";
       }
       const Claim claim = wish();
       const Grant grant = granted(run.store().claim("job", claim));
       run.place().clean_up();
       EXPECT_EQ(granted(run.store().claim("job", claim)).token, grant.token);
     }},

    {"TokensGrowAcrossALongIdleTime",
     [](StoreRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       const Claim claim = wish();
       const Grant before = granted(run.store().claim("job", claim));
       run.release("job", claim.id);
       run.pass(std::chrono::hours(24 * 400));
       if (run.place().clean_up) {
         run.place().clean_up();
       }
       EXPECT_GT(granted(run.store().claim("job", wish())).token, before.token);
     }},

    {"TokensGrowAcrossHandles",
     [](StoreRun& run) {
       base::FencingToken last(0);
       for (int i = 0; i < 5; ++i) {
         const auto handle = run.open();
         const Claim claim = wish();
         const Grant grant = granted(handle->claim("job", claim));
         ASSERT_GT(grant.token, last);
         last = grant.token;
         ASSERT_EQ(handle->release("job", claim.id), store::ReleaseOutcome::released);
       }
     }},

    {"TokensGrowAcrossRestart",
     [](StoreRun& run) {
       if (!run.store().capabilities().durable) {
         GTEST_SKIP() << "the engine does not promise to survive a restart";
       }
       const Claim claim = wish();
       const Grant released = granted(run.store().claim("released", claim));
       run.release("released", claim.id);
       const Claim holder = wish();
       const Grant held = granted(run.store().claim("held", holder));
       run.restart();
       EXPECT_GT(granted(run.store().claim("released", wish())).token, released.token);
       EXPECT_EQ(busy(run.store().claim("held", wish())).holders.at(0).token, held.token);
       EXPECT_EQ(granted(run.store().claim("held", holder)).token, held.token);
     }},

    {"TokensOfConcurrentGrantsAreAllDifferentAndInOrder",
     [](StoreRun& run) {
       constexpr int kThreads = 4;
       std::mutex mutex;
       std::vector<base::FencingToken> tokens;  // in the order of the grants: pushed while held
       bool failed = false;
       together(kThreads, [&](int) {
         for (int granted_here = 0; granted_here < scaled(160);) {
           const Claim claim = wish();
           const auto outcome = run.store().claim("job", claim);
           const Grant* const grant = outcome ? std::get_if<Grant>(&*outcome) : nullptr;
           const std::lock_guard guard(mutex);
           if (!outcome || failed) {
             failed = true;
             return;
           }
           if (grant != nullptr) {
             tokens.push_back(grant->token);
             ++granted_here;
             failed = run.store().release("job", claim.id) != store::ReleaseOutcome::released;
           }
         }
       });
       EXPECT_FALSE(failed);
       EXPECT_EQ(std::ranges::adjacent_find(tokens, std::ranges::greater_equal()), tokens.end());
     }},
};

}  // namespace

std::span<const StoreCase> token_cases() { return kCases; }

}  // namespace holdfast::testing::internal
