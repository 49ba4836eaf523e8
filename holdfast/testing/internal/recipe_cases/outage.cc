#include <optional>
#include <stop_token>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/degradation_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using recipes::CircuitState;
using recipes::Protection;
using recipes::WhenUnavailable;

constexpr WhenUnavailable kPolicies[] = {WhenUnavailable::fail,
                                         WhenUnavailable::proceed_without_lock,
                                         WhenUnavailable::fall_back_to_local};

constexpr LockCase kCases[] = {
    {"WithAStoreThatAnswersTheProtectionIsFull",
     [](LockRun& run) {
       for (const WhenUnavailable policy : kPolicies) {
         DegradationRun with(run, policy);
         const auto lock = with.must_acquire("job");
         EXPECT_EQ(lock->protection(), Protection::full);
         EXPECT_EQ(lock->name(), "job");
         EXPECT_TRUE(lock->check());
         ASSERT_EQ(run.holders("job").size(), 1U);
         EXPECT_EQ(run.holders("job")[0].token, lock->token());
         EXPECT_EQ(lock->release(), store::ReleaseOutcome::released);
         EXPECT_EQ(error_of(lock->check()), ErrorCode::not_held);
         EXPECT_TRUE(run.is_soon_free("job"));
       }
     }},

    {"ByDefaultAnUnavailableStoreIsAnError",
     [](LockRun& run) {
       EXPECT_EQ(recipes::DegradationOptions().when_unavailable, WhenUnavailable::fail);
       DegradationRun with(run, WhenUnavailable::fail);
       run.network().go_away();
       for (int i = 0; i < 5; ++i) {
         EXPECT_EQ(error_of(with.provider().try_acquire("job", run.options())),
                   ErrorCode::unavailable);
       }
       EXPECT_EQ(code_thrown_by([&] { (void)with.provider().acquire("job", run.options()); }),
                 ErrorCode::unavailable);
       EXPECT_EQ(with.counted("degraded_to_none") + with.counted("degraded_to_local"), 0);
     }},

    {"ACancelledAcquireIsNotDegraded",
     [](LockRun& run) {
       std::stop_source stop;
       stop.request_stop();
       AcquireOptions cancelled = run.options();
       cancelled.stop = stop.get_token();
       DegradationRun with(run, WhenUnavailable::proceed_without_lock);
       with.go_away_and_notice();
       const int before = with.counted("degraded_to_none");
       EXPECT_EQ(error_of(with.provider().try_acquire("job", cancelled)), ErrorCode::cancelled);
       EXPECT_EQ(with.counted("degraded_to_none"), before);
     }},

    {"ProceedsWithoutALockIfThePolicySaysSoAndReportsIt",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::proceed_without_lock);
       run.network().go_away();
       const auto lock = with.must_acquire("job");
       EXPECT_EQ(lock->protection(), Protection::none);
       EXPECT_TRUE(lock->holds());
       EXPECT_TRUE(lock->check());
       EXPECT_FALSE(lock->lost().stop_requested());
       EXPECT_EQ(lock->token(), std::nullopt);
       EXPECT_EQ(with.protection_of_try("job"), Protection::none);  // excludes no other caller
       EXPECT_EQ(lock->release(), store::ReleaseOutcome::not_held);
       EXPECT_EQ(with.counted("degraded_to_none"), 2);
       EXPECT_TRUE(with.has_said("proceeding without a lock on job"));
     }},

    {"FallsBackToALockOfThisProcessAndReportsIt",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::fall_back_to_local);
       run.network().go_away();
       const auto lock = with.must_acquire("job");
       EXPECT_EQ(lock->protection(), Protection::local_only);
       EXPECT_TRUE(lock->check());
       EXPECT_EQ(lock->token(), std::nullopt);
       EXPECT_EQ(with.protection_of_try("job"), std::nullopt);
       EXPECT_EQ(with.protection_of_try("another"), Protection::local_only);
       EXPECT_EQ(lock->release(), store::ReleaseOutcome::released);
       EXPECT_EQ(with.protection_of_try("job"), Protection::local_only);
       EXPECT_EQ(with.counted("degraded_to_local"), 3);
       EXPECT_TRUE(with.has_said("job: unavailable"));
     }},

    {"ContentionIsNeverDegraded",
     [](LockRun& run) {
       run.abandon("job", 1h);
       for (const WhenUnavailable policy : kPolicies) {
         DegradationRun with(run, policy);
         for (int i = 0; i < 5; ++i) {
           const auto outcome = with.provider().try_acquire("job", run.options());
           ASSERT_TRUE(outcome);
           EXPECT_FALSE(*outcome);
         }
         AcquireOptions options = run.options();
         options.wait = 10ms;
         EXPECT_EQ(run.result_of_call([&] {
           return code_thrown_by([&] { (void)with.provider().acquire("job", options); });
         }),
                   ErrorCode::timed_out);
         EXPECT_EQ(with.provider().state(), CircuitState::closed);
       }
     }},

    {"OtherErrorsAreNeverDegraded",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::proceed_without_lock);
       run.abandon("job", 1h);
       AcquireOptions reader = run.options();
       reader.permits = store::Permits::reader();
       EXPECT_EQ(error_of(with.provider().try_acquire("job", reader)), ErrorCode::conflict);
       run.network().go_away();
       AcquireOptions bad = run.options();
       bad.ttl = -1s;
       EXPECT_EQ(error_of(with.provider().try_acquire("job", bad)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(with.provider().try_acquire("", run.options())),
                 ErrorCode::invalid_argument);
     }},

    {"AClaimOfUnknownOutcomeLeavesNothingBehindPastItsTtl",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::proceed_without_lock);
       run.network().lose_reply(Operation::claim, 100);
       AcquireOptions options = run.brief_options();
       options.wait = 24h;
       const auto lock =
           run.result_of_call([&] { return with.provider().acquire("job", options); });
       EXPECT_EQ(lock->protection(), Protection::none);
       run.pass(run.ttl());
       EXPECT_TRUE(run.is_soon_free("job"));
       EXPECT_EQ(with.provider().held(), 0U);
     }},

    {"AWaiterIsDegradedWhenTheStoreBecomesUnavailable",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::proceed_without_lock);
       run.abandon("job", 24h);
       auto waiting =
           run.in_background([&] { return with.provider().acquire("job", patient_options()); });
       ASSERT_TRUE(run.soon([&] { return with.provider().waiting() == 1; }));
       run.network().go_away();
       EXPECT_EQ(run.result_of(waiting)->protection(), Protection::none);
     }},

    {"ACancelledWaiterIsNotDegraded",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::proceed_without_lock);
       run.abandon("job", 24h);
       std::stop_source stop;
       AcquireOptions options = patient_options();
       options.stop = stop.get_token();
       auto waiting =
           run.in_background([&] { return with.provider().try_acquire("job", options); });
       ASSERT_TRUE(run.soon([&] { return with.provider().waiting() == 1; }));
       stop.request_stop();
       EXPECT_EQ(error_of(run.result_of(waiting)), ErrorCode::cancelled);
     }},
};

}  // namespace

std::span<const LockCase> outage_cases() { return kCases; }

}  // namespace holdfast::testing::internal
