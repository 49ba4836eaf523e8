#include <atomic>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/degradation_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using recipes::CircuitState;
using recipes::DegradationOptions;
using recipes::Protection;
using recipes::WhenUnavailable;

constexpr LockCase kCases[] = {
    {"ADeadStoreIsNotAskedEachTime",
     [](LockRun& run) {
       DegradationRun with(
           run, DegradationOptions{.when_unavailable = WhenUnavailable::proceed_without_lock,
                                   .failures = DegradationRun::kFailures,
                                   .retry_after = 24h,
                                   .answer_within = kPatience});
       with.go_away_and_notice();
       const std::size_t asked = run.network().calls(Operation::claim);
       EXPECT_EQ(asked, DegradationRun::kFailures);
       for (int i = 0; i < 100; ++i) {
         // Not even for a caller that would wait.
         const auto lock = with.provider().acquire("job", patient_options());
         EXPECT_EQ(lock->protection(), Protection::none);
       }
       EXPECT_EQ(run.network().calls(Operation::claim), asked);
     }},

    {"AfterThePauseOneCallerProbesForAll",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::proceed_without_lock);
       with.go_away_and_notice();
       const std::size_t asked = run.network().calls(Operation::claim);
       with.pass_the_pause();
       run.network().come_back();
       const auto gate = run.network().hold_reply(Operation::claim);
       auto probe = run.in_background([&] { return with.must_acquire("job"); });
       gate->wait_until_reached();
       EXPECT_EQ(with.provider().state(), CircuitState::half_open);
       EXPECT_EQ(with.protection_of_try("another"), Protection::none);
       EXPECT_EQ(run.network().calls(Operation::claim), asked + 1);
       gate->open();
       EXPECT_EQ(run.result_of(probe)->protection(), Protection::full);
       EXPECT_EQ(with.protection_of_try("another"), Protection::full);
     }},

    {"AFailedProbeIsFollowedByAnotherPause",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::proceed_without_lock);
       with.go_away_and_notice();
       with.pass_the_pause();
       EXPECT_EQ(with.protection_of_try("job"), Protection::none);
       EXPECT_EQ(with.provider().state(), CircuitState::open);
       EXPECT_EQ(with.counted("breaker_opened"), 2);
       EXPECT_EQ(with.counted("breaker_closed"), 0);
     }},

    {"AStoreThatHangsIsUnavailable",
     [](LockRun& run) {
       DegradationRun with(
           run, DegradationOptions{.when_unavailable = WhenUnavailable::proceed_without_lock,
                                   .failures = 2,
                                   .retry_after = 24h,
                                   .answer_within = 20ms});
       std::vector<std::shared_ptr<Gate>> gates;  // which stay closed
       for (int i = 0; i < 2; ++i) {
         gates.push_back(run.network().hold_request(Operation::claim));
       }
       // Its ttl and its wait would allow each request an hour.
       const auto lock = with.provider().acquire("job", patient_options());
       EXPECT_EQ(lock->protection(), Protection::none);
       EXPECT_EQ(with.provider().state(), CircuitState::open);
     },
     CaseTime::real},

    {"InvalidOptionsAreRejected",
     [](LockRun& run) {
       const auto code_of = [&](const DegradationOptions& options) {
         return code_thrown_by(
             [&] { (void)run.recipes().degradable(run.shared_network(), options); });
       };
       EXPECT_EQ(code_of({.failures = 0}), ErrorCode::invalid_argument);
       EXPECT_EQ(code_of({.retry_after = 0s}), ErrorCode::invalid_argument);
       EXPECT_EQ(code_of({.answer_within = -1s}), ErrorCode::invalid_argument);
       EXPECT_EQ(code_thrown_by([&] { (void)run.recipes().degradable(nullptr, {}); }),
                 ErrorCode::invalid_argument);
     }},
};

}  // namespace

std::span<const LockCase> breaker_cases() { return kCases; }

}  // namespace holdfast::testing::internal
