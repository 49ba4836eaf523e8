#include <atomic>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using recipes::ClearOutcome;
using recipes::Marker;

// Returns a marker as in another process.
Marker another_marker(ProviderRun& run) { return Marker(run.place().open()); }

constexpr ProviderCase kCases[] = {
    {"AMarkIsSeenByAllUsersOfTheStore",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       EXPECT_EQ(marker.is_marked("file"), false);
       EXPECT_EQ(marker.time_left("file").value(), std::nullopt);
       ASSERT_TRUE(marker.mark("file", 1h));
       Marker other = another_marker(run);
       EXPECT_EQ(other.is_marked("file"), true);
       const auto left = other.time_left("file").value();
       ASSERT_TRUE(left);
       EXPECT_GT(*left, 0s);
       EXPECT_LE(*left, 1h);
       EXPECT_EQ(other.is_marked("File"), false);
     }},

    {"AMarkExpires",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       ASSERT_TRUE(marker.mark("file", run.ttl()));
       run.pass(run.ttl());
       EXPECT_EQ(marker.is_marked("file"), false);
       EXPECT_EQ(marker.time_left("file").value(), std::nullopt);
     }},

    {"AnyCallerCanClearAMark",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       ASSERT_TRUE(marker.mark("file", 1h));
       EXPECT_EQ(another_marker(run).clear("file"), ClearOutcome::cleared);
       EXPECT_EQ(marker.is_marked("file"), false);
       EXPECT_EQ(marker.clear("file"), ClearOutcome::was_not_marked);
     }},

    {"TheLastMarkCountsWhetherItsTimeIsLongerOrShorter",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       Marker other = another_marker(run);
       ASSERT_TRUE(marker.mark("file", 1h));
       ASSERT_TRUE(other.mark("file", 3h));
       EXPECT_GT(marker.time_left("file").value().value(), 2h);
       ASSERT_TRUE(marker.mark("file", 1h));
       EXPECT_LE(marker.time_left("file").value().value(), 1h);
       EXPECT_EQ(run.holders("mark/file").size(), 1U);
     }},

    {"AllConcurrentCallsOfMarkSucceed",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       Marker other = marker_on(run);
       std::atomic<int> failed = 0;
       together(16, [&](int i) {
         for (int round = 0; round < scaled(16); ++round) {
           failed += (i % 2 == 0 ? marker : other).mark("file", 1h) ? 0 : 1;
         }
       });
       EXPECT_EQ(failed, 0);
       EXPECT_EQ(marker.clear("file"), ClearOutcome::cleared);
       EXPECT_EQ(marker.is_marked("file"), false);
     }},

    {"MarksAndLocksOfTheSameNameAreIndependent",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       const auto lock = run.provider().acquire("job", run.options());
       ASSERT_TRUE(marker.mark("job", 1h));
       EXPECT_EQ(marker.clear("job"), ClearOutcome::cleared);
       EXPECT_TRUE(lock.check());
       EXPECT_EQ(run.holders("job").size(), 1U);
     }},

    {"BadArgumentsAreTypedErrors",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       const std::string too_long(base::Name::kMaxSize, 'x');
       for (const std::string& key : {std::string(), too_long}) {
         EXPECT_EQ(error_of(marker.mark(key, 1h)), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(marker.try_mark(key, 1h)), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(marker.clear(key)), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(marker.is_marked(key)), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(marker.time_left(key)), ErrorCode::invalid_argument);
       }
       EXPECT_EQ(error_of(marker.mark("file", 99ms)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(marker.try_mark("file", -1s)), ErrorCode::invalid_argument);
       EXPECT_EQ(marker.is_marked("file"), false);
     }},

    {"ANameInUseForSomethingElseIsAConflict",
     [](ProviderRun& run) {
       Marker marker = marker_on(run);
       const store::Claim reader{.id = base::LeaseId::generate(),
                                 .owner = "a reader",
                                 .reason = {},
                                 .ttl = 1h,
                                 .permits = store::Permits::reader()};
       ASSERT_TRUE(run.store().claim("mark/file", reader));
       EXPECT_EQ(error_of(marker.mark("file", 1h)), ErrorCode::conflict);
       EXPECT_EQ(error_of(marker.try_mark("file", 1h)), ErrorCode::conflict);
       EXPECT_EQ(run.holders("mark/file").at(0).id, reader.id);
     }},
};

}  // namespace

std::span<const ProviderCase> mark_cases() { return kCases; }

}  // namespace holdfast::testing::internal
