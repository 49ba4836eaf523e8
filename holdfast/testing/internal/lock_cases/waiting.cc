#include <atomic>
#include <future>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/lock_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using Lock = LockUnderTest;
using LockProvider = ProviderUnderTest;

auto wait_in_background(LockProvider& provider, const AcquireOptions& options) {
  return LockRun::in_background([&provider, options] {
    AcquireOptions patient = options;
    patient.wait = patient.wait.value_or(1h);
    return provider.try_acquire("job", patient);
  });
}

constexpr LockCase kCases[] = {
    {"AWaitTimesOutOnAHeldNameAndAcquiresItWhenItsTtlEnds",
     [](LockRun& run) {
       const base::LeaseId dead = run.abandon("job", 1h);
       AcquireOptions options = run.options();
       options.wait = run.ttl() / 10;
       EXPECT_TRUE(
           is_busy(run.result_of_call([&] { return run.provider().try_acquire("job", options); })));
       EXPECT_FALSE(run.holders("job").empty());
       (void)run.store().release("job", dead);
       // A store with a queue may have granted the name to the call that gave up: that is released,
       // if need be in the background.
       EXPECT_TRUE(run.soon([&] { return run.holders("job").empty(); }));
       run.abandon("job", run.ttl());
       options.wait.reset();
       const Lock lock = run.result_of_call([&] { return run.provider().acquire("job", options); });
       EXPECT_EQ(run.holders("job").at(0).id, lock.id());
       EXPECT_EQ(run.provider().waiting(), 0U);
     }},

    {"AcquireThrowsWhenItsTimeIsUp",
     [](LockRun& run) {
       run.abandon("job", 1h);
       AcquireOptions options = run.options();
       options.wait = run.ttl() / 10;
       EXPECT_EQ(run.result_of_call([&] {
         return code_thrown_by([&] { (void)run.provider().acquire("job", options); });
       }),
                 ErrorCode::timed_out);
       EXPECT_EQ(run.provider().waiting(), 0U);
     }},

    {"TheLastTryIsAtTheDeadline",
     [](LockRun& run) {
       run.network().lose_hints();
       run.abandon("job", run.ttl());
       AcquireOptions options = run.options();
       options.wait = run.ttl();
       auto provider = run.provider_with({.poll_least = 10min, .poll_most = 10min});
       auto waits = run.in_background([&] { return provider->try_acquire("job", options); });
       ASSERT_TRUE(run.soon([&] { return provider->waiting() == 1 || run.has_ended(waits); }));
       // To the deadline and not beyond it: a waiter that wakes up late does not try any more.
       run.pass(run.ttl());
       ASSERT_TRUE(run.soon([&] { return run.has_ended(waits); }));
       (void)must_have(waits.get());
     }},

    {"AReleasePassesTheNameToAWaiterOfTheSameProvider",
     [](LockRun& run) {
       Lock first = run.provider().acquire("job", run.options());
       auto waiting = wait_in_background(run.provider(), run.options());
       ASSERT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       EXPECT_EQ(first.release(), store::ReleaseOutcome::released);
       // Without any time passing, whether the engine pushes or not.
       EXPECT_TRUE(run.soon([&] { return run.has_ended(waiting); }));
       const Lock second = must_have(run.result_of(waiting));
       EXPECT_GT(second.token(), first.token());
       EXPECT_TRUE(second.check());
       EXPECT_EQ(run.holders("job").at(0).id, second.id());
       EXPECT_EQ(run.provider().held(), 1U);
       EXPECT_EQ(run.provider().waiting(), 0U);
     }},

    {"ACrowdOfOneProviderDoesNotStarveAnother",
     [](LockRun& run) {
       const auto crowded = run.another_provider();
       std::atomic<bool> is_over = false;
       auto crowd = run.in_background([&] {
         together(4, [&](int) {
           while (!is_over) {
             const Lock lock = crowded->acquire("job", run.options());
           }
         });
       });
       EXPECT_TRUE(run.soon([&] { return crowded->waiting() > 0; }));
       auto other = wait_in_background(run.provider(), run.options());
       EXPECT_TRUE(run.in_time([&] { return run.has_ended(other); }));
       is_over = true;
       (void)must_have(run.result_of(other));
       run.result_of(crowd);
     }},

    {"AReleaseLetsAWaiterOfAnotherProviderAcquireTheName",
     [](LockRun& run) {
       const auto other = run.another_provider();
       Lock first = run.provider().acquire("job", run.options());
       auto waiting = wait_in_background(*other, run.options());
       ASSERT_TRUE(run.soon([&] { return other->waiting() == 1; }));
       EXPECT_EQ(first.release(), store::ReleaseOutcome::released);
       if (run.store().capabilities().push) {
         // Without any time passing: it does not wait for the next poll.
         EXPECT_TRUE(run.soon([&] { return run.has_ended(waiting); }));
       }
       EXPECT_GT(must_have(run.result_of(waiting)).token(), first.token());
     }},

    {"AReleaseReachesAWaiterBelowAPrefix",
     [](LockRun& run) {
       const auto billing = run.another_provider({.prefix = "billing/"});
       Lock first = run.provider().acquire("billing/job", run.options());
       auto waiting = wait_in_background(*billing, run.options());
       ASSERT_TRUE(run.soon([&] { return billing->waiting() == 1; }));
       EXPECT_EQ(first.release(), store::ReleaseOutcome::released);
       EXPECT_TRUE(run.in_time([&] { return run.has_ended(waiting); }));
       const Lock second = must_have(run.result_of(waiting));
       EXPECT_GT(second.token(), first.token());
       EXPECT_EQ(run.holders("billing/job").at(0).id, second.id());
     }},

    {"WaitersOfOneProviderAreServedInOrderOfArrival",
     [](LockRun& run) {
       constexpr int kWaiters = 6;
       std::mutex mutex;
       std::vector<int> served;
       std::vector<std::future<void>> waiting;
       Lock first = run.provider().acquire("job", run.options());
       for (int i = 0; i < kWaiters; ++i) {
         waiting.push_back(run.in_background([&, i] {
           const Lock lock = run.provider().acquire("job", run.options());
           const std::lock_guard guard(mutex);
           served.push_back(i);
         }));
         ASSERT_TRUE(
             run.soon([&] { return run.provider().waiting() == static_cast<std::size_t>(i + 1); }));
       }
       (void)first.release();
       for (auto& each : waiting) {
         run.result_of(each);
       }
       EXPECT_EQ(served, (std::vector{0, 1, 2, 3, 4, 5}));
     }},

    {"ANameThatBecomesFreeBeforeTheSubscriptionIsNotMissed",
     [](LockRun& run) {
       if (!run.store().capabilities().push) {
         return;  // it polls anyway
       }
       const base::LeaseId dead = run.abandon("job", 1h);
       const auto gate = run.network().hold_request(Operation::watch);
       auto waiting = wait_in_background(run.provider(), run.options());
       gate->wait_until_reached();
       (void)run.store().release("job", dead);
       gate->open();
       EXPECT_TRUE(run.soon([&] { return run.has_ended(waiting); }));
       (void)must_have(run.result_of(waiting));
     }},

    {"AHintThatComesWhileAClaimIsUnderWayIsNotLost",
     [](LockRun& run) {
       const base::LeaseId dead = run.abandon("job", 1h);
       run.network().pass(Operation::claim);
       const auto gate = run.network().hold_reply(Operation::claim);  // after it has subscribed
       auto waiting = wait_in_background(run.provider(), run.options());
       gate->wait_until_reached();
       (void)run.store().release("job", dead);  // in memory, the hint has come when this returns
       gate->open();                            // the reply says that the name is busy
       if (run.store().capabilities().push) {
         EXPECT_TRUE(run.soon([&] { return run.has_ended(waiting); }));
       }
       (void)must_have(run.result_of(waiting));
     }},

    {"AStopEndsAWaitAndLeavesNothingBehind",
     [](LockRun& run) {
       std::stop_source stop;
       Lock lock = run.provider().acquire("job", run.options());
       AcquireOptions options = run.options();
       options.stop = stop.get_token();
       auto waiting = wait_in_background(run.provider(), options);
       ASSERT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       stop.request_stop();
       // Without any time passing: it does not wait for the next poll.
       ASSERT_TRUE(run.soon([&] { return run.has_ended(waiting); }));
       EXPECT_EQ(error_of(waiting.get()), ErrorCode::cancelled);
       EXPECT_EQ(run.provider().waiting(), 0U);
       (void)lock.release();
       EXPECT_TRUE(run.holders("job").empty());
     }},

    {"AStopBeforeTheCallAcquiresNothing",
     [](LockRun& run) {
       std::stop_source stop;
       stop.request_stop();
       AcquireOptions options = run.options();
       options.stop = stop.get_token();
       EXPECT_EQ(error_of(run.provider().try_acquire("free", options)), ErrorCode::cancelled);
       const Lock lock = run.provider().acquire("job", run.options());
       EXPECT_EQ(code_thrown_by([&] { (void)run.provider().acquire("job", options); }),
                 ErrorCode::cancelled);
       EXPECT_TRUE(run.holders("free").empty());
       EXPECT_EQ(run.provider().waiting(), 0U);
     }},

    {"ATimedOutWaiterDoesNotDelayTheWaitersBehindIt",
     [](LockRun& run) {
       Lock lock = run.provider().acquire("job", run.options());
       AcquireOptions brief = run.options();
       brief.wait = run.ttl() / 10;
       auto first = wait_in_background(run.provider(), brief);
       ASSERT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       auto second = wait_in_background(run.provider(), run.options());
       ASSERT_TRUE(run.soon([&] { return run.provider().waiting() == 2; }));
       EXPECT_TRUE(is_busy(run.result_of(first)));
       (void)lock.release();
       (void)must_have(run.result_of(second));
     }},

    {"ALostHintDelaysButNeverBlocksForEver",
     [](LockRun& run) {
       run.network().lose_hints();
       const auto other = run.another_provider();
       Lock lock = other->acquire("job", run.options());
       auto waiting = wait_in_background(run.provider(), run.options());
       ASSERT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       (void)lock.release();
       (void)must_have(run.result_of(waiting));
     }},

    {"TooManyWaitersAreATypedError",
     [](LockRun& run) {
       const auto small = run.another_provider({.max_waited_names = 1, .max_waiters_per_name = 2});
       run.abandon("job", 1h);
       run.abandon("other", 1h);
       std::stop_source stop;
       AcquireOptions options = run.options();
       options.wait = 1h;
       options.stop = stop.get_token();
       auto one = wait_in_background(*small, options);
       auto two = wait_in_background(*small, options);
       ASSERT_TRUE(run.soon([&] { return small->waiting() == 2; }));
       EXPECT_EQ(error_of(small->try_acquire("job", options)), ErrorCode::limit_exceeded);
       EXPECT_EQ(error_of(small->try_acquire("other", options)), ErrorCode::limit_exceeded);
       EXPECT_TRUE(is_busy(small->try_acquire("other", run.options())));
       stop.request_stop();
       EXPECT_EQ(error_of(run.result_of(one)), ErrorCode::cancelled);
       EXPECT_EQ(error_of(run.result_of(two)), ErrorCode::cancelled);
     }},

    {"TheEndOfTheProviderEndsItsWaits",
     [](LockRun& run) {
       run.abandon("job", 1h);
       auto waiting = wait_in_background(run.provider(), run.options());
       ASSERT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       run.destroy_provider();
       EXPECT_EQ(error_of(run.result_of(waiting)), ErrorCode::cancelled);
     }},

    {"ALongWaitIsWarnedAboutOnce",
     [](LockRun& run) {
       std::atomic<int> warnings = 0;
       const auto provider = run.another_provider({.logger = base::Logger(
                                                       [&](base::LogLevel, std::string_view text) {
                                                         warnings += text.contains("job") ? 1 : 0;
                                                       },
                                                       base::LogLevel::warning),
                                                   .warn_after = run.ttl() / 10});
       run.abandon("job", 1h);
       std::stop_source stop;
       AcquireOptions options = run.options();
       options.wait = 1h;
       options.stop = stop.get_token();
       auto waiting = wait_in_background(*provider, options);
       EXPECT_TRUE(run.in_time([&] { return warnings > 0; }));
       // Another caller's wait, as long as many times `warn_after`.
       AcquireOptions brief = run.options();
       brief.wait = run.ttl();
       EXPECT_TRUE(is_busy(
           run.result_of_call([&] { return run.provider().try_acquire("job", brief); })));
       stop.request_stop();
       EXPECT_EQ(error_of(run.result_of(waiting)), ErrorCode::cancelled);
       EXPECT_EQ(warnings, 1);
     }},
};

}  // namespace

std::span<const LockCase> wait_cases() { return kCases; }

}  // namespace holdfast::testing::internal
