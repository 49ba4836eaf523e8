#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/store/forget_hits.h>
#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using store::HitOutcome;

using store::Window;

HitOutcome slide(StoreRun& run, std::string_view name, std::uint32_t limit, base::Duration period,
                 std::uint32_t count = 1) {
  return base::value_or_throw(run.store().hit(
      name, {.limit = limit, .period = period, .window = Window::sliding, .count = count}));
}

HitOutcome hit(StoreRun& run, std::string_view name, std::uint32_t limit, base::Duration period) {
  return base::value_or_throw(run.store().hit(name, {.limit = limit, .period = period}));
}

constexpr StoreCase kCases[] = {
    {"HitsAreAllowedUpToTheLimitAndThenRefused",
     [](StoreRun& run) {
       for (std::uint32_t i = 1; i <= 3; ++i) {
         const HitOutcome outcome = hit(run, "calls", 3, kLong);
         EXPECT_TRUE(outcome.allowed);
         EXPECT_EQ(outcome.remaining, 3 - i);
         EXPECT_GT(outcome.resets_in, base::Duration::zero());
         EXPECT_LE(outcome.resets_in, kLong);
       }
       for (int i = 0; i < 2; ++i) {
         const HitOutcome outcome = hit(run, "calls", 3, kLong);
         EXPECT_FALSE(outcome.allowed);
         EXPECT_EQ(outcome.remaining, 0U);
         EXPECT_GT(outcome.resets_in, base::Duration::zero());
       }
     }},

    {"HitsRecoverAfterTheWindow",
     [](StoreRun& run) {
       EXPECT_TRUE(hit(run, "calls", 1, run.ttl()).allowed);
       run.pass(run.ttl());
       const HitOutcome outcome = hit(run, "calls", 2, kLong);
       EXPECT_TRUE(outcome.allowed);
       EXPECT_EQ(outcome.remaining, 1U);
       EXPECT_GT(outcome.resets_in, run.ttl());
     }},

    {"AWindowStartsWithItsFirstHitAndEndsForAllAtOnce",
     [](StoreRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       using std::chrono::seconds;
       EXPECT_EQ(hit(run, "calls", 2, seconds(10)).resets_in, seconds(10));
       run.pass(seconds(6));
       EXPECT_EQ(hit(run, "calls", 2, seconds(10)).resets_in, seconds(4));
       EXPECT_FALSE(hit(run, "calls", 2, seconds(10)).allowed);
       run.pass(seconds(4));
       EXPECT_EQ(hit(run, "calls", 2, seconds(10)).remaining, 1U);
     }},

    {"RefusedHitsDoNotProlongTheWindow",
     [](StoreRun& run) {
       EXPECT_TRUE(hit(run, "calls", 1, run.ttl()).allowed);
       EXPECT_LE(hit(run, "calls", 1, kLong).resets_in, run.ttl());
       run.pass(run.ttl());
       EXPECT_TRUE(hit(run, "calls", 1, kLong).allowed);
     }},

    {"ASlidingWindowHasNoDoubleBurstAtItsEdge",
     [](StoreRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       using std::chrono::seconds;
       EXPECT_TRUE(slide(run, "calls", 4, seconds(10)).allowed);
       run.pass(seconds(9));
       EXPECT_TRUE(slide(run, "calls", 4, seconds(10), 3).allowed);
       run.pass(seconds(1));
       // A fixed window would start again here.
       EXPECT_TRUE(slide(run, "calls", 4, seconds(10)).allowed);
       const HitOutcome refused = slide(run, "calls", 4, seconds(10));
       EXPECT_FALSE(refused.allowed);
       EXPECT_EQ(refused.hits, 4U);
       EXPECT_EQ(refused.remaining, 0U);
       EXPECT_EQ(refused.retry_after, seconds(9));
       EXPECT_EQ(refused.resets_in, seconds(10));
     }},

    {"ASlidingWindowRecovers",
     [](StoreRun& run) {
       EXPECT_TRUE(slide(run, "calls", 2, run.ttl(), 2).allowed);
       const HitOutcome refused = slide(run, "calls", 2, kLong);
       EXPECT_FALSE(refused.allowed);
       EXPECT_GT(refused.retry_after, base::Duration::zero());
       EXPECT_LE(refused.retry_after, run.ttl());
       run.pass(run.ttl());
       const HitOutcome outcome = slide(run, "calls", 2, kLong);
       EXPECT_TRUE(outcome.allowed);
       EXPECT_EQ(outcome.hits, 1U);
     }},

    {"NeverMoreHitsThanTheLimitOfASlidingWindowUnderConcurrency",
     [](StoreRun& run) {
       for (const std::uint32_t limit : {100U, 300U}) {
         const std::string name = "calls " + std::to_string(limit);
         std::atomic<std::uint32_t> allowed = 0;
         std::atomic<int> errors = 0;
         together(8, [&](int) {
           for (std::uint32_t i = 0; i < limit / 4; ++i) {
             const auto outcome = run.store().hit(
                 name, {.limit = limit, .period = kLong, .window = Window::sliding});
             allowed += outcome && outcome->allowed ? 1 : 0;
             errors += outcome ? 0 : 1;
           }
         });
         EXPECT_EQ(allowed, limit);
         EXPECT_EQ(errors, 0);
       }
     }},

    {"SeveralHitsAtOnceAreAllowedAllOrNone",
     [](StoreRun& run) {
       for (const Window window : {Window::fixed, Window::sliding}) {
         const std::string name = window == Window::fixed ? "fixed" : "sliding";
         const auto hits = [&](std::uint32_t count) {
           return base::value_or_throw(run.store().hit(
               name, {.limit = 5, .period = kLong, .window = window, .count = count}));
         };
         EXPECT_TRUE(hits(3).allowed);
         EXPECT_FALSE(hits(3).allowed);
         EXPECT_EQ(hits(2).hits, 5U);
       }
     }},

    {"HitsOfEitherWindowCanBeForgotten",
     [](StoreRun& run) {
       const store::Hit forget = store::forget_hits();
       for (const Window window : {Window::fixed, Window::sliding}) {
         const std::string name = window == Window::fixed ? "fixed" : "sliding";
         const auto hits = [&] {
           return base::value_or_throw(
               run.store().hit(name, {.limit = 2, .period = kLong, .window = window, .count = 2}));
         };
         EXPECT_EQ(base::value_or_throw(run.store().hit(name, forget)).hits, 0U);
         EXPECT_TRUE(hits().allowed);
         EXPECT_FALSE(hits().allowed);
         EXPECT_EQ(base::value_or_throw(run.store().hit(name, forget)).hits, 2U);
         EXPECT_EQ(base::value_or_throw(run.store().hit(name, forget)).hits, 0U);
         EXPECT_TRUE(hits().allowed);
       }
       // A name whose hits are forgotten can be leased; what is leased has no hits to forget.
       base::value_or_throw(run.store().hit("fixed", forget));
       (void)granted(run.store().claim("fixed", wish()));
       EXPECT_EQ(error_of(run.store().hit("fixed", forget)), ErrorCode::conflict);
     }},

    {"ALookIsNotCounted",
     [](StoreRun& run) {
       for (const Window window : {Window::fixed, Window::sliding}) {
         const std::string name = window == Window::fixed ? "fixed" : "sliding";
         const auto hits = [&](std::uint32_t count) {
           return base::value_or_throw(run.store().hit(
               name, {.limit = 1, .period = kLong, .window = window, .count = count}));
         };
         EXPECT_EQ(
             hits(0),
             (HitOutcome{
                 .allowed = true, .hits = 0, .remaining = 1, .resets_in = {}, .retry_after = {}}));
         EXPECT_TRUE(hits(1).allowed);
         EXPECT_FALSE(hits(0).allowed);
         EXPECT_EQ(hits(0).hits, 1U);
       }
     }},

    {"OneNameHasOneKindOfWindowAtATime",
     [](StoreRun& run) {
       EXPECT_TRUE(hit(run, "fixed", 1, run.ttl()).allowed);
       EXPECT_EQ(error_of(run.store().hit(
                     "fixed", {.limit = 1, .period = kLong, .window = Window::sliding})),
                 ErrorCode::conflict);
       EXPECT_TRUE(slide(run, "sliding", 1, kLong).allowed);
       EXPECT_EQ(error_of(run.store().hit("sliding", {.limit = 1, .period = kLong})),
                 ErrorCode::conflict);
       EXPECT_EQ(error_of(run.store().claim("sliding", wish())), ErrorCode::conflict);
       run.pass(run.ttl());
       EXPECT_TRUE(slide(run, "fixed", 1, kLong).allowed);
     }},

    {"EachNameHasItsOwnWindow",
     [](StoreRun& run) {
       EXPECT_TRUE(hit(run, "one", 1, kLong).allowed);
       EXPECT_TRUE(hit(run, "two", 1, kLong).allowed);
       EXPECT_FALSE(hit(run, "one", 1, kLong).allowed);
     }},

    {"NeverMoreHitsThanTheLimitUnderConcurrency",
     [](StoreRun& run) {
       constexpr std::uint32_t kLimit = 100;
       std::atomic<std::uint32_t> allowed = 0;
       std::atomic<int> errors = 0;
       together(8, [&](int) {
         for (int i = 0; i < 25; ++i) {
           const auto outcome = run.store().hit("calls", {.limit = kLimit, .period = kLong});
           allowed += outcome && outcome->allowed ? 1 : 0;
           errors += outcome ? 0 : 1;
         }
       });
       EXPECT_EQ(allowed, kLimit);
       EXPECT_EQ(errors, 0);
     }},

    {"AWindowIsNotListedAsHeld",
     [](StoreRun& run) {
       EXPECT_TRUE(hit(run, "calls", 5, kLong).allowed);
       EXPECT_TRUE(run.holders("calls").empty());
       EXPECT_TRUE(base::value_or_throw(run.store().list("")).names.empty());
     }},

    {"AWindowSurvivesCleanUp",
     [](StoreRun& run) {
       if (!run.place().clean_up) {
         GTEST_SKIP() << "the engine's clean-up cannot be asked for";
       }
       EXPECT_TRUE(hit(run, "calls", 1, kLong).allowed);
       EXPECT_TRUE(slide(run, "sliding", 1, kLong).allowed);
       run.place().clean_up();
       EXPECT_FALSE(hit(run, "calls", 1, kLong).allowed);
       EXPECT_FALSE(slide(run, "sliding", 1, kLong).allowed);
     }},

    {"BadHitsAreRejected",
     [](StoreRun& run) {
       EXPECT_EQ(error_of(run.store().hit("calls", {.limit = 0, .period = kLong})),
                 ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.store().hit("calls", {.limit = 1, .period = base::Duration(-1)})),
                 ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.store().hit("", {.limit = 1, .period = kLong})),
                 ErrorCode::invalid_argument);
     }},
};

}  // namespace

std::span<const StoreCase> hit_cases() { return kCases; }

}  // namespace holdfast::testing::internal
