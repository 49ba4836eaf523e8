#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::Window;

std::unique_ptr<ThrottleFace> throttle_on(LockRun& run, std::uint32_t limit, base::Duration period,
                                          Window window = Window::fixed) {
  return run.recipes().throttle(run.shared_network(), {.limit = limit,
                                                       .period = period,
                                                       .window = window,
                                                       .timeout = kPatience,
                                                       .clock = run.with_clock({}).clock});
}

constexpr Window kWindows[] = {Window::fixed, Window::sliding};

const char* key_of(Window window) { return window == Window::fixed ? "fixed" : "sliding"; }

constexpr LockCase kCases[] = {
    {"NoMoreThanTheLimitPass",
     [](LockRun& run) {
       for (const Window window : kWindows) {
         const auto calls = throttle_on(run, 3, 1h, window);
         const char* const key = key_of(window);
         EXPECT_EQ(calls->is_throttled(key), false);
         EXPECT_EQ(calls->retry_after(key), base::Duration::zero());
         for (std::uint32_t i = 1; i <= 3; ++i) {
           EXPECT_EQ(calls->try_pass(key), true);
           EXPECT_EQ(calls->hits(key), i);
         }
         EXPECT_EQ(calls->try_pass(key), false);
         EXPECT_EQ(calls->hits(key), 3U);
         EXPECT_EQ(calls->is_throttled(key), true);
         EXPECT_GT(calls->retry_after(key).value(), base::Duration::zero());
         EXPECT_LE(calls->retry_after(key).value(), 1h);
         EXPECT_EQ(calls->try_pass(std::string("another ") + key), true);
       }
     }},

    {"RecoversAfterThePeriod",
     [](LockRun& run) {
       for (const Window window : kWindows) {
         const auto calls = throttle_on(run, 1, run.ttl(), window);
         EXPECT_EQ(calls->try_pass(key_of(window)), true);
         run.pass(run.ttl());
         EXPECT_EQ(calls->try_pass(key_of(window)), true);
       }
     }},

    {"ASlidingWindowHasNoDoubleBurstAtTheEdge",
     [](LockRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       const auto burst_at_the_edge = [&](Window window) {
         const auto calls = throttle_on(run, 4, 10s, window);
         EXPECT_EQ(calls->try_pass(key_of(window)), true);
         run.pass(9s);
         int passed = 0;
         for (int i = 0; i < 8; ++i) {
           passed += calls->try_pass(key_of(window)).value() ? 1 : 0;
         }
         run.pass(1s);
         for (int i = 0; i < 8; ++i) {
           passed += calls->try_pass(key_of(window)).value() ? 1 : 0;
         }
         return passed;  // within one second
       };
       EXPECT_EQ(burst_at_the_edge(Window::fixed), 7);
       EXPECT_EQ(burst_at_the_edge(Window::sliding), 4);
     }},

    {"ExactlyTheLimitOfManyConcurrentCallersPass",
     [](LockRun& run) {
       for (const Window window : kWindows) {
         const auto calls = throttle_on(run, 20, 1h, window);
         const auto other = run.place().open();
         const auto more = run.recipes().throttle(
             other, {.limit = 20, .period = 1h, .window = window, .timeout = kPatience});
         std::atomic<int> passed = 0;
         std::atomic<int> failed = 0;
         together(8, [&](int i) {
           for (int round = 0; round < 5; ++round) {
             const auto outcome = (i % 2 == 0 ? calls : more)->try_pass(key_of(window));
             passed += outcome && *outcome ? 1 : 0;
             failed += outcome ? 0 : 1;
           }
         });
         EXPECT_EQ(passed, 20);
         EXPECT_EQ(failed, 0);
       }
     }},

    {"WaitsForTheNextWindow",
     [](LockRun& run) {
       for (const Window window : kWindows) {
         const auto calls = throttle_on(run, 1, run.ttl(), window);
         EXPECT_EQ(calls->try_pass(key_of(window)), true);
         auto passed = run.in_background([&] { return calls->pass(key_of(window), 24h); });
         EXPECT_EQ(run.result_of(passed), true);
         EXPECT_EQ(calls->hits(key_of(window)), 1U);
       }
     }},

    {"DoesNotWaitIfItCannotPassInTime",
     [](LockRun& run) {
       const auto calls = throttle_on(run, 1, 1h);
       EXPECT_EQ(calls->pass("key", 0s), true);
       EXPECT_EQ(calls->pass("key", 30min), false);
       EXPECT_EQ(calls->pass("key", 0s), false);
     }},

    {"AWaitIsCancelled",
     [](LockRun& run) {
       const auto calls = throttle_on(run, 1, 1h);
       EXPECT_EQ(calls->try_pass("key"), true);
       std::stop_source stop;
       auto waits = run.in_background([&] { return calls->pass("key", 24h, stop.get_token()); });
       EXPECT_TRUE(run.soon([&] { return run.network().calls(Operation::hit) >= 2; }));
       stop.request_stop();
       EXPECT_TRUE(run.soon([&] { return run.has_ended(waits); }));
       EXPECT_EQ(error_of(waits.get()), ErrorCode::cancelled);
     }},

    {"EachCallIsOneRequest",
     [](LockRun& run) {
       const auto calls = throttle_on(run, 5, 1h);
       ASSERT_TRUE(calls->try_pass("key"));
       ASSERT_TRUE(calls->hits("key"));
       ASSERT_TRUE(calls->is_throttled("key"));
       ASSERT_TRUE(calls->retry_after("key"));
       ASSERT_TRUE(calls->pass("key", 1h));
       EXPECT_EQ(run.network().calls(Operation::hit), 5U);
     }},

    {"SeveralPassTogetherOrNotAtAll",
     [](LockRun& run) {
       const auto calls = throttle_on(run, 3, 1h, Window::sliding);
       EXPECT_EQ(calls->try_pass("key", 2), true);
       EXPECT_EQ(calls->try_pass("key", 2), false);
       EXPECT_EQ(calls->try_pass("key", 1), true);
       EXPECT_EQ(error_of(calls->try_pass("key", 4)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(calls->try_pass("key", 0)), ErrorCode::invalid_argument);
     }},

    {"AFailureIsAnErrorAndNotARefusal",
     [](LockRun& run) {
       const auto calls = throttle_on(run, 1, 1h);
       run.network().lose_reply(Operation::hit);
       EXPECT_EQ(error_of(calls->try_pass("key")), ErrorCode::unknown_outcome);
       run.network().refuse(Operation::hit);
       EXPECT_EQ(error_of(calls->try_pass("key")), ErrorCode::unavailable);
       EXPECT_EQ(calls->try_pass("key"), false);  // the first was counted
     }},

    {"ThrottlesAndLocksOfTheSameNameAreIndependent",
     [](LockRun& run) {
       const auto calls = throttle_on(run, 1, 1h);
       const auto lock = run.provider().acquire("job", run.options());
       EXPECT_EQ(calls->try_pass("job"), true);
       EXPECT_TRUE(lock.check());
     }},

    {"BadArgumentsAreTypedErrors",
     [](LockRun& run) {
       const auto calls = throttle_on(run, 1, 1h);
       EXPECT_EQ(error_of(calls->try_pass("")), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(throttle_on(run, 1, 99ms)->try_pass("key")), ErrorCode::invalid_argument);
       EXPECT_EQ(code_thrown_by([&] { (void)throttle_on(run, 0, 1h); }),
                 ErrorCode::invalid_argument);
       EXPECT_EQ(code_thrown_by([&] { (void)run.recipes().throttle(nullptr, {}); }),
                 ErrorCode::invalid_argument);
     }},

    {"OneKeyHasOneKindOfWindow",
     [](LockRun& run) {
       const auto fixed = throttle_on(run, 1, 1h, Window::fixed);
       const auto sliding = throttle_on(run, 1, 1h, Window::sliding);
       EXPECT_EQ(fixed->try_pass("key"), true);
       EXPECT_EQ(error_of(sliding->try_pass("key")), ErrorCode::conflict);
     }},
};

}  // namespace

std::span<const LockCase> throttle_cases() { return kCases; }

}  // namespace holdfast::testing::internal
