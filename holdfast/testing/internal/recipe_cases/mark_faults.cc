#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using recipes::ClearOutcome;

constexpr LockCase kCases[] = {
    {"RequestsWithLostRepliesAreRepeated",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       run.network().lose_reply(Operation::claim);
       ASSERT_TRUE(marker->mark("file", 1h));
       run.network().lose_reply(Operation::transfer);
       ASSERT_TRUE(marker->mark("file", 3h));
       EXPECT_GT(marker->time_left("file").value().value(), 2h);
       run.network().lose_reply(Operation::look);
       EXPECT_EQ(marker->is_marked("file"), true);
       run.network().lose_request(Operation::release);
       EXPECT_EQ(marker->clear("file"), ClearOutcome::cleared);
       run.network().lose_reply(Operation::claim);
       EXPECT_TRUE(marker->try_mark("file", 1h).value());
     }},

    {"ATryWhoseRepliesAreAllLostLeavesNothingBehind",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       run.network().lose_reply(Operation::claim, 100);
       EXPECT_EQ(error_of(marker->try_mark("file", 1h)), ErrorCode::unknown_outcome);
       EXPECT_TRUE(run.is_soon_free("mark/file"));
     }},

    {"AMarkOfUnknownOutcomeExpires",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       run.network().lose_reply(Operation::claim, 3);
       EXPECT_EQ(error_of(marker->mark("file", run.ttl())), ErrorCode::unknown_outcome);
       run.pass(run.ttl());
       EXPECT_EQ(marker->is_marked("file"), false);
     }},

    {"AnUnavailableStoreIsATypedError",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       run.network().go_away();
       EXPECT_EQ(error_of(marker->mark("file", 1h)), ErrorCode::unavailable);
       EXPECT_EQ(error_of(marker->try_mark("file", 1h)), ErrorCode::unavailable);
       EXPECT_EQ(error_of(marker->clear("file")), ErrorCode::unavailable);
       EXPECT_EQ(error_of(marker->is_marked("file")), ErrorCode::unavailable);
       EXPECT_EQ(error_of(marker->time_left("file")), ErrorCode::unavailable);
     }},

    {"AGuardThatCannotClearLeavesTheMarkToExpire",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       auto mine = marker->try_mark("file", run.ttl()).value();
       ASSERT_TRUE(mine);
       run.network().go_away();
       mine.reset();
       run.network().come_back();
       run.pass(run.ttl());
       EXPECT_EQ(marker->is_marked("file"), false);
     }},

    {"ACallEndsAlthoughTheStoreHangs",
     [](LockRun& run) {
       const auto marker = marker_on(run, {.timeout = 50ms});
       const auto gate = run.network().hold_request(Operation::look);
       // The gate stays closed.
       EXPECT_EQ(error_of(marker->is_marked("file")), ErrorCode::unknown_outcome);
     },
     CaseTime::real},
};

}  // namespace

std::span<const LockCase> mark_fault_cases() { return kCases; }

}  // namespace holdfast::testing::internal
