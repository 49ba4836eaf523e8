#include <holdfast/recipes/once.h>

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::Lock;
using recipes::Once;
using recipes::OnceOptions;
using recipes::OnceOutcome;

void nothing(const Lock&) {}

constexpr ProviderCase kCases[] = {
    {"OfManyExactlyOneRunsIt",
     [](ProviderRun& run) {
       const auto other = run.another_provider();
       std::atomic<int> runs = 0;
       std::atomic<int> skipped = 0;
       together(16, [&](int i) {
         Once once(i % 2 == 0 ? run.provider() : *other, {.period = 1h});
         const auto outcome = once.run("job", [&](const Lock&) { ++runs; });
         skipped += outcome == OnceOutcome::skipped ? 1 : 0;
       });
       EXPECT_EQ(runs, 1);
       EXPECT_EQ(skipped, 15);
     }},

    {"ItRunsAgainInTheNextPeriod",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = run.ttl()});
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::ran);
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::skipped);
       run.pass(run.ttl());
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::ran);
     }},

    {"ThePeriodCountsFromTheStartOfTheRun",
     [](ProviderRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       Once once(run.provider(), {.period = 60s});
       EXPECT_EQ(once.run("job", [&](const Lock&) { run.pass(20s); }), OnceOutcome::ran);
       run.pass(39s);
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::skipped);
       run.pass(1s);
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::ran);
     }},

    {"ItIsKeptWhileItRunsLongerThanThePeriod",
     [](ProviderRun& run) {
       const auto other = run.another_provider();
       Once once(run.provider(), {.period = run.ttl(), .retry_after_crash = run.ttl()});
       const auto outcome = once.run("job", [&](const Lock& lock) {
         run.keep_for("once/job", run.ttl() * 2);
         EXPECT_TRUE(lock.check());
         EXPECT_EQ(Once(*other, {.period = 1h}).run("job", nothing), OnceOutcome::skipped);
       });
       EXPECT_EQ(outcome, OnceOutcome::ran);
       // The period was over before it ended: the next may begin at once.
       EXPECT_EQ(Once(*other, {.period = 1h}).run("job", nothing), OnceOutcome::ran);
     }},

    {"AfterACrashItRunsAgainInTheNextPeriodOrSooner",
     [](ProviderRun& run) {
       run.abandon("once/job", run.ttl());  // as long as a period, or as retry_after_crash
       Once once(run.provider(), {.period = 24h});
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::skipped);
       run.pass(run.ttl());
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::ran);
     }},

    {"TheLeaseLastsAsTheOptionsSay",
     [](ProviderRun& run) {
       Once strict(run.provider(), {.period = 24h});
       (void)strict.run("strict", [&](const Lock&) {
         EXPECT_GT(run.holders("once/strict").at(0).time_left, 23h);
       });
       Once lenient(run.provider(), {.period = 24h, .retry_after_crash = 1h});
       (void)lenient.run("lenient", [&](const Lock&) {
         EXPECT_LE(run.holders("once/lenient").at(0).time_left, 1h);
       });
       // But when it has run, it has.
       EXPECT_GT(run.holders("once/lenient").at(0).time_left, 23h);
     }},

    {"WorkThatFailsCountsAsRun",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = 1h});
       EXPECT_THROW((void)once.run("job", [](const Lock&) { throw std::runtime_error("no"); }),
                    std::runtime_error);
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::skipped);
     }},

    {"EachKeyHasAPeriodOfItsOwnAndMeetsNoLock",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = 1h});
       const Lock lock = run.provider().acquire("one", run.options());
       EXPECT_EQ(once.run("one", nothing), OnceOutcome::ran);
       EXPECT_EQ(once.run("two", nothing), OnceOutcome::ran);
     }},

    {"AFailureIsAnErrorAndNothingRuns",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = 1h});
       run.network().refuse(Operation::claim, 2);
       bool ran = false;
       const auto outcome =
           run.result_of_call([&] { return once.run("job", [&](const Lock&) { ran = true; }); });
       EXPECT_EQ(error_of(outcome), ErrorCode::unavailable);
       EXPECT_FALSE(ran);
       EXPECT_EQ(error_of(once.run("", nothing)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(Once(run.provider(), {.period = 1ms}).run("job", nothing)),
                 ErrorCode::invalid_argument);
     }},
};

}  // namespace

std::span<const ProviderCase> once_cases() { return kCases; }

}  // namespace holdfast::testing::internal
