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
using recipes::OnceOptions;
using recipes::OnceOutcome;

void nothing(const LockView&) {}

constexpr const char* kHasRun = "has run in this period";

// Lets no more time pass than really does, so that nothing times out only because this machine is
// slow.
OnceOutcome outcome_of(LockRun& run, std::future<base::Result<OnceOutcome>> running) {
  EXPECT_TRUE(eventually([&] { return LockRun::has_ended(running); },
                         [&] {
                           if (run.clock_moves()) {
                             run.pass(1ms);
                           }
                           std::this_thread::sleep_for(1ms);
                         }));
  return base::value_or_throw(running.get());
}

constexpr LockCase kCases[] = {
    {"ExactlyOneOfManyCallersRunsTheWork",
     [](LockRun& run) {
       const auto other = run.another_provider();
       std::atomic<int> runs = 0;
       std::atomic<int> skipped = 0;
       together(16, [&](int i) {
         const auto once = (i % 2 == 0 ? run.provider() : *other).recipes().once({.period = 1h});
         const auto outcome = once->run("job", [&](const LockView&) { ++runs; });
         skipped += outcome == OnceOutcome::skipped ? 1 : 0;
       });
       EXPECT_EQ(runs, 1);
       EXPECT_EQ(skipped, 15);
     }},

    {"ItRunsAgainInTheNextPeriod",
     [](LockRun& run) {
       const auto once = run.recipes().once({.period = run.ttl()});
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::ran);
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::skipped);
       run.pass(run.ttl());
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::ran);
     }},

    {"ThePeriodCountsFromTheStartOfTheRun",
     [](LockRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       const auto once = run.recipes().once({.period = 60s});
       EXPECT_EQ(once->run("job", [&](const LockView&) { run.pass(20s); }), OnceOutcome::ran);
       run.pass(39s);
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::skipped);
       run.pass(1s);
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::ran);
     }},

    {"TheLeaseIsRenewedWhileTheWorkTakesLongerThanThePeriod",
     [](LockRun& run) {
       const auto other = run.another_provider();
       const auto once = run.recipes().once({.period = run.ttl(), .retry_after_crash = run.ttl()});
       const auto outcome = once->run("job", [&](const LockView& lock) {
         run.keep_for("once/job", run.ttl() * 2);
         EXPECT_TRUE(lock.check());
         EXPECT_EQ(other->recipes().once({.period = 1h})->run("job", nothing),
                   OnceOutcome::skipped);
       });
       EXPECT_EQ(outcome, OnceOutcome::ran);
       // The period was over before the work ended: the next run may start at once.
       EXPECT_EQ(other->recipes().once({.period = 1h})->run("job", nothing), OnceOutcome::ran);
     }},

    {"AfterACrashItRunsAgainInTheNextPeriodOrSooner",
     [](LockRun& run) {
       run.abandon("once/job", run.ttl());  // as long as a period, or as retry_after_crash
       const auto once = run.recipes().once({.period = 24h});
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::skipped);
       run.pass(run.ttl());
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::ran);
     }},

    {"TheLeaseLastsAsLongAsTheOptionsSay",
     [](LockRun& run) {
       const auto strict = run.recipes().once({.period = 24h});
       (void)strict->run("strict", [&](const LockView&) {
         EXPECT_GT(run.holders("once/strict").at(0).time_left, 23h);
       });
       const auto lenient = run.recipes().once({.period = 24h, .retry_after_crash = 1h});
       (void)lenient->run("lenient", [&](const LockView&) {
         EXPECT_LE(run.holders("once/lenient").at(0).time_left, 1h);
       });
       // But once it has run, it counts as run.
       EXPECT_GT(run.holders("once/lenient").at(0).time_left, 23h);
     }},

    {"WorkThatFailsCountsAsRun",
     [](LockRun& run) {
       const auto once = run.recipes().once({.period = 1h});
       EXPECT_THROW((void)once->run("job", [](const LockView&) { throw std::runtime_error("no"); }),
                    std::runtime_error);
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::skipped);
     }},

    {"WorkThatCouldNotBeDoneDoesNotUseUpThePeriod",
     [](LockRun& run) {
       const auto once = run.recipes().once({.period = 1h});
       EXPECT_EQ(once->attempt("job", [](const LockView&) { return false; }),
                 OnceOutcome::not_done);
       EXPECT_TRUE(run.is_soon_free("once/job"));
       EXPECT_EQ(once->attempt("job", [](const LockView&) { return true; }), OnceOutcome::ran);
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::skipped);
     }},

    {"ThePeriodIsKeptAcrossAShortOutage",
     [](LockRun& run) {
       const auto once = run.recipes().once({.period = 24h, .retry_after_crash = 1h});
       run.network().refuse(Operation::transfer, 2);
       EXPECT_EQ(outcome_of(run, run.in_background([&] { return once->run("job", nothing); })),
                 OnceOutcome::ran);
       EXPECT_EQ(run.holders("once/job").at(0).reason, kHasRun);
     }},

    {"ThePeriodIsKeptAlthoughRepliesAreLost",
     [](LockRun& run) {
       const auto once = run.recipes().once({.period = 24h, .retry_after_crash = 1h});
       run.network().lose_reply(Operation::transfer, 4);
       EXPECT_EQ(outcome_of(run, run.in_background([&] { return once->run("job", nothing); })),
                 OnceOutcome::ran);
       EXPECT_EQ(run.holders("once/job").at(0).reason, kHasRun);
     }},

    {"ALongOutageLeavesTheLeaseOfTheRun",
     [](LockRun& run) {
       const auto once = run.recipes().once({.period = 24h, .retry_after_crash = 1h});
       const auto outcome = run.result_of_call(
           [&] { return once->run("job", [&](const LockView&) { run.network().go_away(); }); });
       EXPECT_EQ(outcome, OnceOutcome::ran);
       EXPECT_NE(run.holders("once/job").at(0).reason, kHasRun);
     }},

    {"IfTheLeaseIsLostWhenTheWorkEndsTheRestOfThePeriodIsClaimed",
     [](LockRun& run) {
       const auto once = run.recipes().once({.period = 24h});
       const auto take_away = [&](const LockView& lock) {
         EXPECT_EQ(run.store().release(lock.name, lock.id), store::ReleaseOutcome::released);
       };
       EXPECT_EQ(once->run("job", take_away), OnceOutcome::ran);
       EXPECT_EQ(run.holders("once/job").at(0).reason, kHasRun);
       EXPECT_EQ(once->run("job", nothing), OnceOutcome::skipped);
       const auto take_over = [&](const LockView& lock) {
         take_away(lock);
         run.abandon(lock.name, 24h);
       };
       EXPECT_EQ(once->run("other", take_over), OnceOutcome::ran);
       EXPECT_EQ(run.holders("once/other").at(0).owner, "the dead");
     }},

    {"EachKeyHasItsOwnPeriodAndIsIndependentOfLocks",
     [](LockRun& run) {
       const auto once = run.recipes().once({.period = 1h});
       const auto lock = run.provider().acquire("one", run.options());
       EXPECT_EQ(once->run("one", nothing), OnceOutcome::ran);
       EXPECT_EQ(once->run("two", nothing), OnceOutcome::ran);
     }},

    {"AFailureIsAnErrorAndNothingRuns",
     [](LockRun& run) {
       const auto once = run.recipes().once({.period = 1h});
       run.network().refuse(Operation::claim, 2);
       bool ran = false;
       const auto outcome = run.result_of_call(
           [&] { return once->run("job", [&](const LockView&) { ran = true; }); });
       EXPECT_EQ(error_of(outcome), ErrorCode::unavailable);
       EXPECT_FALSE(ran);
       EXPECT_EQ(error_of(once->run("", nothing)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.recipes().once({.period = 1ms})->run("job", nothing)),
                 ErrorCode::invalid_argument);
       EXPECT_EQ(
           error_of(
               run.recipes().once({.period = 1h, .retry_after_crash = 2h})->run("job", nothing)),
           ErrorCode::invalid_argument);
     }},
};

}  // namespace

std::span<const LockCase> once_cases() { return kCases; }

}  // namespace holdfast::testing::internal
