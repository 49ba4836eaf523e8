#include <holdfast/recipes/once.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

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

constexpr const char* kHasRun = "has run in this period";

// Lets no more time pass than really does, so that nothing times out only because this machine is
// slow.
OnceOutcome outcome_of(ProviderRun& run, std::future<base::Result<OnceOutcome>> running) {
  EXPECT_TRUE(eventually([&] { return ProviderRun::has_ended(running); },
                         [&] {
                           if (run.clock_moves()) {
                             run.pass(1ms);
                           }
                           std::this_thread::sleep_for(1ms);
                         }));
  return base::value_or_throw(running.get());
}

constexpr ProviderCase kCases[] = {
    {"ExactlyOneOfManyCallersRunsTheWork",
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

    {"TheLeaseIsRenewedWhileTheWorkTakesLongerThanThePeriod",
     [](ProviderRun& run) {
       const auto other = run.another_provider();
       Once once(run.provider(), {.period = run.ttl(), .retry_after_crash = run.ttl()});
       const auto outcome = once.run("job", [&](const Lock& lock) {
         run.keep_for("once/job", run.ttl() * 2);
         EXPECT_TRUE(lock.check());
         EXPECT_EQ(Once(*other, {.period = 1h}).run("job", nothing), OnceOutcome::skipped);
       });
       EXPECT_EQ(outcome, OnceOutcome::ran);
       // The period was over before the work ended: the next run may start at once.
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

    {"TheLeaseLastsAsLongAsTheOptionsSay",
     [](ProviderRun& run) {
       Once strict(run.provider(), {.period = 24h});
       (void)strict.run("strict", [&](const Lock&) {
         EXPECT_GT(run.holders("once/strict").at(0).time_left, 23h);
       });
       Once lenient(run.provider(), {.period = 24h, .retry_after_crash = 1h});
       (void)lenient.run("lenient", [&](const Lock&) {
         EXPECT_LE(run.holders("once/lenient").at(0).time_left, 1h);
       });
       // But once it has run, it counts as run.
       EXPECT_GT(run.holders("once/lenient").at(0).time_left, 23h);
     }},

    {"WorkThatFailsCountsAsRun",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = 1h});
       EXPECT_THROW((void)once.run("job", [](const Lock&) { throw std::runtime_error("no"); }),
                    std::runtime_error);
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::skipped);
     }},

    {"WorkThatCouldNotBeDoneDoesNotUseUpThePeriod",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = 1h});
       EXPECT_EQ(once.attempt("job", [](const Lock&) { return false; }), OnceOutcome::given_back);
       EXPECT_TRUE(run.holders("once/job").empty());
       EXPECT_EQ(once.attempt("job", [](const Lock&) { return true; }), OnceOutcome::ran);
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::skipped);
     }},

    {"ThePeriodIsKeptAcrossAShortOutage",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = 24h, .retry_after_crash = 1h});
       run.network().refuse(Operation::transfer, 2);
       EXPECT_EQ(outcome_of(run, run.in_background([&] { return once.run("job", nothing); })),
                 OnceOutcome::ran);
       EXPECT_EQ(run.holders("once/job").at(0).reason, kHasRun);
     }},

    {"ThePeriodIsKeptAlthoughRepliesAreLost",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = 24h, .retry_after_crash = 1h});
       run.network().lose_reply(Operation::transfer, 4);
       EXPECT_EQ(outcome_of(run, run.in_background([&] { return once.run("job", nothing); })),
                 OnceOutcome::ran);
       EXPECT_EQ(run.holders("once/job").at(0).reason, kHasRun);
     }},

    {"ALongOutageLeavesTheLeaseOfTheRun",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = 24h, .retry_after_crash = 1h});
       const auto outcome = run.result_of_call(
           [&] { return once.run("job", [&](const Lock&) { run.network().go_away(); }); });
       EXPECT_EQ(outcome, OnceOutcome::ran);
       EXPECT_NE(run.holders("once/job").at(0).reason, kHasRun);
     }},

    {"IfTheLeaseIsLostWhenTheWorkEndsTheRestOfThePeriodIsClaimed",
     [](ProviderRun& run) {
       Once once(run.provider(), {.period = 24h});
       const auto take_away = [&](const Lock& lock) {
         EXPECT_EQ(run.store().release(lock.name(), lock.id()), store::ReleaseOutcome::released);
       };
       EXPECT_EQ(once.run("job", take_away), OnceOutcome::ran);
       EXPECT_EQ(run.holders("once/job").at(0).reason, kHasRun);
       EXPECT_EQ(once.run("job", nothing), OnceOutcome::skipped);
       const auto take_over = [&](const Lock& lock) {
         take_away(lock);
         run.abandon(lock.name(), 24h);
       };
       EXPECT_EQ(once.run("other", take_over), OnceOutcome::ran);
       EXPECT_EQ(run.holders("once/other").at(0).owner, "the dead");
     }},

    {"EachKeyHasItsOwnPeriodAndIsIndependentOfLocks",
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
       EXPECT_EQ(
           error_of(
               Once(run.provider(), {.period = 1h, .retry_after_crash = 2h}).run("job", nothing)),
           ErrorCode::invalid_argument);
     }},
};

}  // namespace

std::span<const ProviderCase> once_cases() { return kCases; }

}  // namespace holdfast::testing::internal
