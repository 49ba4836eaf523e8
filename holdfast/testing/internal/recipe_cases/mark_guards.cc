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
using store::RenewOutcome;

constexpr LockCase kCases[] = {
    {"ATryOnAMarkedKeyIsRefused",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       ASSERT_TRUE(marker->mark("file", 1h));
       EXPECT_FALSE(marker->try_mark("file", 1h).value());
       EXPECT_TRUE(marker->try_mark("another", 1h).value());
     }},

    {"ExactlyOneOfSixtyFourTriesWins",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       const auto another = run.another_provider();
       const auto other = another->recipes().marker({.timeout = kPatience});
       for (int round = 0; round < scaled(16); ++round) {
         std::atomic<int> won = 0;
         std::atomic<int> failed = 0;
         std::vector<std::unique_ptr<MarkFace>> guards(64);
         together(64, [&](int i) {
           auto mine = (i % 2 == 0 ? marker : other)->try_mark("file", 1h);
           failed += mine ? 0 : 1;
           if (mine && *mine) {
             ++won;
             guards[static_cast<std::size_t>(i)] = *std::move(mine);
           }
         });
         ASSERT_EQ(failed, 0);
         ASSERT_EQ(won, 1);
         guards.clear();
         ASSERT_EQ(marker->is_marked("file"), false);
       }
     }},

    {"TheGuardClearsItsMarkAtTheEnd",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       {
         const auto mine = marker->try_mark("file", 1h).value();
         ASSERT_TRUE(mine);
         EXPECT_TRUE(mine->holds());
         EXPECT_EQ(marker->is_marked("file"), true);
       }
       EXPECT_EQ(marker->is_marked("file"), false);
     }},

    {"AGuardThatKeepsItsMarkLeavesIt",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       must_have(marker->try_mark("file", 1h))->keep();
       EXPECT_EQ(marker->is_marked("file"), true);
     }},

    {"TheGuardDoesNotClearAMarkThatReplacedItsOwn",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       const auto mine = must_have(marker->try_mark("file", 1h));
       ASSERT_TRUE(marker->mark("file", 2h));
       EXPECT_EQ(mine->extend(3h), RenewOutcome::lost);
       EXPECT_EQ(mine->clear(), ClearOutcome::was_not_marked);
       EXPECT_GT(marker->time_left("file").value().value(), 1h);
     }},

    {"TheGuardOfAnExpiredMarkDoesNotClearItsSuccessor",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       auto late = marker->try_mark("file", run.ttl()).value();
       ASSERT_TRUE(late);
       run.pass(run.ttl());
       const auto next = marker->try_mark("file", 1h).value();
       ASSERT_TRUE(next);
       late.reset();
       EXPECT_EQ(marker->is_marked("file"), true);
     }},

    {"AnExtendedMarkLastsLongerAndStillBelongsToTheGuard",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       const auto mine = must_have(marker->try_mark("file", 1h));
       EXPECT_EQ(mine->extend(3h), RenewOutcome::renewed);
       EXPECT_GT(marker->time_left("file").value().value(), 2h);
       EXPECT_EQ(mine->clear(), ClearOutcome::cleared);
       EXPECT_EQ(mine->clear(), ClearOutcome::was_not_marked);
       EXPECT_EQ(mine->extend(1h), RenewOutcome::lost);
     }},

    {"AMovedGuardClearsOnce",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       const auto first = must_have(marker->try_mark("one", 1h));
       const auto second = must_have(marker->try_mark("two", 1h));
       const auto moved = first->move_out();
       EXPECT_EQ(marker->is_marked("one"), true);
       moved->move_in(*second);  // clears the mark that it guarded
       EXPECT_EQ(marker->is_marked("one"), false);
       EXPECT_EQ(marker->is_marked("two"), true);
       EXPECT_EQ(moved->clear(), ClearOutcome::cleared);
     }},
};

}  // namespace

std::span<const LockCase> mark_guard_cases() { return kCases; }

}  // namespace holdfast::testing::internal
