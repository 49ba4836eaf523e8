#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using recipes::ClearOutcome;
using recipes::Marker;
using recipes::MarkGuard;
using store::RenewOutcome;

constexpr ProviderCase kCases[] = {
    {"ATryOnAMarkedKeyIsRefused",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       ASSERT_TRUE(marker.mark("file", 1h));
       EXPECT_FALSE(marker.try_mark("file", 1h).value());
       EXPECT_TRUE(marker.try_mark("another", 1h).value());
     }},

    {"ExactlyOneOfSixtyFourTriesWins",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       Marker other(run.place().open(), {.timeout = kPatience});
       for (int round = 0; round < scaled(16); ++round) {
         std::atomic<int> won = 0;
         std::atomic<int> failed = 0;
         std::vector<std::optional<MarkGuard>> guards(64);
         together(64, [&](int i) {
           auto mine = (i % 2 == 0 ? marker : other).try_mark("file", 1h);
           failed += mine ? 0 : 1;
           if (mine && *mine) {
             ++won;
             guards[static_cast<std::size_t>(i)] = *std::move(mine);
           }
         });
         ASSERT_EQ(failed, 0);
         ASSERT_EQ(won, 1);
         guards.clear();
         ASSERT_EQ(marker.is_marked("file"), false);
       }
     }},

    {"TheGuardClearsItsMarkAtTheEnd",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       {
         const auto mine = marker.try_mark("file", 1h).value();
         ASSERT_TRUE(mine);
         EXPECT_TRUE(mine->holds());
         EXPECT_EQ(marker.is_marked("file"), true);
       }
       EXPECT_EQ(marker.is_marked("file"), false);
     }},

    {"AGuardThatKeepsItsMarkLeavesIt",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       marker.try_mark("file", 1h).value().value().keep();
       EXPECT_EQ(marker.is_marked("file"), true);
     }},

    {"TheGuardDoesNotClearAMarkThatReplacedItsOwn",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       MarkGuard mine = marker.try_mark("file", 1h).value().value();
       ASSERT_TRUE(marker.mark("file", 2h));
       EXPECT_EQ(mine.extend(3h), RenewOutcome::lost);
       EXPECT_EQ(mine.clear(), ClearOutcome::was_not_marked);
       EXPECT_GT(marker.time_left("file").value().value(), 1h);
     }},

    {"TheGuardOfAnExpiredMarkDoesNotClearItsSuccessor",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       std::optional<MarkGuard> late = marker.try_mark("file", run.ttl()).value();
       ASSERT_TRUE(late);
       run.pass(run.ttl());
       const auto next = marker.try_mark("file", 1h).value();
       ASSERT_TRUE(next);
       late.reset();
       EXPECT_EQ(marker.is_marked("file"), true);
     }},

    {"AnExtendedMarkLastsLongerAndStillBelongsToTheGuard",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       MarkGuard mine = marker.try_mark("file", 1h).value().value();
       EXPECT_EQ(mine.extend(3h), RenewOutcome::renewed);
       EXPECT_GT(marker.time_left("file").value().value(), 2h);
       EXPECT_EQ(mine.clear(), ClearOutcome::cleared);
       EXPECT_EQ(mine.clear(), ClearOutcome::was_not_marked);
       EXPECT_EQ(mine.extend(1h), RenewOutcome::lost);
     }},

    {"AMovedGuardClearsOnce",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       MarkGuard first = marker.try_mark("one", 1h).value().value();
       MarkGuard second = marker.try_mark("two", 1h).value().value();
       MarkGuard moved = std::move(first);
       EXPECT_EQ(marker.is_marked("one"), true);
       moved = std::move(second);  // clears the mark that it guarded
       EXPECT_EQ(marker.is_marked("one"), false);
       EXPECT_EQ(marker.is_marked("two"), true);
       EXPECT_EQ(moved.clear(), ClearOutcome::cleared);
     }},
};

}  // namespace

std::span<const ProviderCase> mark_guard_cases() { return kCases; }

}  // namespace holdfast::testing::internal
