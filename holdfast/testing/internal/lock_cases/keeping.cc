#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/lock_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using Lock = LockUnderTest;

constexpr LockCase kCases[] = {
    {"ALockOutlivesSeveralTtls",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.brief_options());
       run.keep_for("job", run.ttl() * 4);
       EXPECT_TRUE(lock.check());
       EXPECT_FALSE(lock.lost().stop_requested());
       EXPECT_EQ(run.holders("job").at(0).id, lock.id());
       EXPECT_TRUE(is_busy(run.another_provider()->try_acquire("job", run.options())));
     }},

    {"ARenewalCallbackMayCallTheProvider",
     [](LockRun& run) {
       std::atomic<std::size_t> held_when_told = 0;
       ProviderUnderTest* asked = nullptr;
       locks::ProviderOptions options;
       options.metrics.count = [&](std::string_view what, std::string_view, std::uint64_t) {
         if (what == "renewed") {
           held_when_told = asked->held();
         }
       };
       const auto provider = run.provider_with(std::move(options));
       asked = provider.get();
       const Lock lock = provider->acquire("job", run.brief_options());
       EXPECT_TRUE(run.in_time([&] { return held_when_told == 1; }));
     }},

    {"ManyLocksAreRenewedInBatches",
     [](LockRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       std::vector<Lock> held;
       for (int i = 0; i < 100; ++i) {
         held.push_back(run.provider().acquire("job " + std::to_string(i), run.brief_options()));
       }
       for (int third = 0; third < 6; ++third) {
         run.keep_for("job 0", run.ttl() / 3);
       }
       for (const Lock& lock : held) {
         EXPECT_TRUE(lock.check());
       }
       // One by one it would be 600.
       EXPECT_LE(run.network().calls(Operation::renew), 12U);
     }},

    {"ValidityCountsFromBeforeTheClaimWasSent",
     [](LockRun& run) {
       const auto gate = run.network().hold_reply(Operation::claim);
       auto running = run.in_background(
           [&] { return run.provider().try_acquire("job", run.brief_options()); });
       // The renewal that is due by then must not hide it.
       const auto renewal = run.network().hold_request(Operation::renew);
       gate->wait_until_reached();
       run.pass(run.ttl() / 2);
       gate->open();
       const Lock lock = must_have(running.get());
       EXPECT_LT(lock.time_left(), run.ttl() / 2);
       renewal->open();
     }},

    {"ValidityCountsFromBeforeTheRenewalWasSent",
     [](LockRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       const Lock lock = run.provider().acquire("job", run.brief_options());
       const auto first = run.network().hold_reply(Operation::renew);
       const auto second = run.network().hold_request(Operation::renew);
       run.pass(run.ttl() / 3);
       first->wait_until_reached();
       run.pass(run.ttl() / 3);
       EXPECT_LT(lock.time_left(), run.ttl() / 3);
       first->open();
       ASSERT_TRUE(run.soon([&] { return second->reached(); }));
       EXPECT_GT(lock.time_left(), run.ttl() / 3);
       EXPECT_LT(lock.time_left(), run.ttl() * 2 / 3);
       second->open();
     }},

    {"LostFiresWhenTheLeaseIsStolen",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.brief_options());
       std::atomic<bool> told = false;
       const std::stop_callback callback(lock.lost(), [&] { told = true; });
       EXPECT_EQ(run.store().release("job", lock.id()), store::ReleaseOutcome::released);
       EXPECT_TRUE(run.in_time([&] { return told.load(); }));
       EXPECT_EQ(error_of(lock.check()), ErrorCode::lost);
       EXPECT_EQ(lock.time_left(), base::Duration::zero());
       EXPECT_TRUE(run.soon([&] { return run.provider().held() == 0; }));
     }},

    {"LostFiresForTheLockThatWasLostAndNoOther",
     [](LockRun& run) {
       const Lock taken = run.provider().acquire("taken", run.brief_options());
       const Lock kept = run.provider().acquire("kept", run.options());
       (void)run.store().release("taken", taken.id());
       EXPECT_TRUE(run.in_time([&] { return taken.lost().stop_requested(); }));
       EXPECT_TRUE(kept.check());
       EXPECT_FALSE(kept.lost().stop_requested());
     }},

    {"LostDoesNotFireOnReleaseOrDestruction",
     [](LockRun& run) {
       std::atomic<int> fired = 0;
       std::stop_token token;
       {
         Lock lock = run.provider().acquire("job", run.options());
         token = lock.lost();
         const std::stop_callback callback(token, [&] { ++fired; });
         (void)lock.release();
         EXPECT_FALSE(lock.lost().stop_requested());
       }
       {
         token = run.provider().acquire("job", run.options()).lost();
       }
       EXPECT_EQ(fired, 0);
       EXPECT_FALSE(token.stop_requested());
     }},

    {"ACallerThatChecksLateSeesThatTheLockIsLost",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.brief_options());
       run.network().go_away();
       run.pass(run.ttl());
       EXPECT_TRUE(lock.lost().stop_requested());
       bool told = false;
       const std::stop_callback callback(lock.lost(), [&] { told = true; });
       EXPECT_TRUE(told);
     }},

    {"ReleasingALostLockReportsThatItWasNotHeld",
     [](LockRun& run) {
       Lock lock = run.provider().acquire("job", run.brief_options());
       (void)run.store().release("job", lock.id());
       ASSERT_TRUE(run.in_time([&] { return lock.lost().stop_requested(); }));
       EXPECT_EQ(lock.release(), store::ReleaseOutcome::not_held);
       EXPECT_FALSE(lock);
     }},

    {"MaxHoldEndsTheRenewal",
     [](LockRun& run) {
       AcquireOptions options = run.brief_options();
       options.max_hold = run.ttl() * 2;
       const Lock lock = run.provider().acquire("job", options);
       EXPECT_TRUE(run.in_time([&] { return !lock.check(); }));
       EXPECT_TRUE(lock.lost().stop_requested());
       EXPECT_TRUE(run.in_time([&] { return run.holders("job").empty(); }));
     }},

    {"MaxHoldDoesNotEndTheRenewalEarlier",
     [](LockRun& run) {
       AcquireOptions options = run.brief_options();
       options.max_hold = run.ttl() * 4;
       const Lock lock = run.provider().acquire("job", options);
       run.keep_for("job", run.ttl() * 3);
       EXPECT_TRUE(lock.check());
     }},

    {"ALockMayBeDestroyedWhileItIsRenewed",
     [](LockRun& run) {
       std::optional<Lock> lock = run.provider().acquire("job", run.brief_options());
       const auto gate = run.network().hold_request(Operation::renew);
       ASSERT_TRUE(run.in_time([&] { return gate->reached(); }));
       lock.reset();
       EXPECT_TRUE(run.holders("job").empty());
       gate->open();
       // The late renewal restores nothing.
       const Lock next = run.provider().acquire("job", run.options());
       EXPECT_EQ(run.holders("job").size(), 1U);
       EXPECT_TRUE(next.check());
     }},

    {"LocksMayComeAndGoWhileTheKeeperRenews",
     [](LockRun& run) {
       AcquireOptions options = run.options();
       options.renew_every = 1ms;
       const Lock kept = run.provider().acquire("kept", options);
       auto all = run.in_background([&] {
         together(4, [&](int thread) {
           for (int i = 0; i < scaled(200); ++i) {
             (void)run.provider().try_acquire(std::to_string(thread), options);
           }
         });
       });
       run.result_of(all);
       EXPECT_TRUE(kept.check());
       EXPECT_EQ(run.provider().held(), 1U);
     }},
};

}  // namespace

std::span<const LockCase> keeping_cases() { return kCases; }

}  // namespace holdfast::testing::internal
