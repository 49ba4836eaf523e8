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

// A marker as in another process.
class AnotherMarker {
 public:
  explicit AnotherMarker(LockRun& run) : provider_(run.another_provider()) {}

  MarkerFace* operator->() const { return marker_.get(); }

 private:
  const std::unique_ptr<ProviderUnderTest> provider_;
  const std::unique_ptr<MarkerFace> marker_ = provider_->recipes().marker({.timeout = kPatience});
};

constexpr LockCase kCases[] = {
    {"AMarkIsSeenByAllUsersOfTheStore",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       EXPECT_EQ(marker->is_marked("file"), false);
       EXPECT_EQ(marker->time_left("file").value(), std::nullopt);
       ASSERT_TRUE(marker->mark("file", 1h));
       const AnotherMarker other(run);
       EXPECT_EQ(other->is_marked("file"), true);
       const auto left = other->time_left("file").value();
       ASSERT_TRUE(left);
       EXPECT_GT(*left, 0s);
       EXPECT_LE(*left, 1h);
       EXPECT_EQ(other->is_marked("File"), false);
     }},

    {"AMarkExpires",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       ASSERT_TRUE(marker->mark("file", run.ttl()));
       run.pass(run.ttl());
       EXPECT_EQ(marker->is_marked("file"), false);
       EXPECT_EQ(marker->time_left("file").value(), std::nullopt);
     }},

    {"AnyCallerCanClearAMark",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       ASSERT_TRUE(marker->mark("file", 1h));
       EXPECT_EQ(AnotherMarker(run)->clear("file"), ClearOutcome::cleared);
       EXPECT_EQ(marker->is_marked("file"), false);
       EXPECT_EQ(marker->clear("file"), ClearOutcome::was_not_marked);
     }},

    {"TheLastMarkCountsWhetherItsTimeIsLongerOrShorter",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       const AnotherMarker other(run);
       ASSERT_TRUE(marker->mark("file", 1h));
       ASSERT_TRUE(other->mark("file", 3h));
       EXPECT_GT(marker->time_left("file").value().value(), 2h);
       ASSERT_TRUE(marker->mark("file", 1h));
       EXPECT_LE(marker->time_left("file").value().value(), 1h);
       EXPECT_EQ(run.holders("mark/file").size(), 1U);
     }},

    {"AllConcurrentCallsOfMarkSucceed",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       const auto other = marker_on(run);
       std::atomic<int> failed = 0;
       together(16, [&](int i) {
         for (int round = 0; round < scaled(16); ++round) {
           failed += (i % 2 == 0 ? marker : other)->mark("file", 1h) ? 0 : 1;
         }
       });
       EXPECT_EQ(failed, 0);
       EXPECT_EQ(marker->clear("file"), ClearOutcome::cleared);
       EXPECT_EQ(marker->is_marked("file"), false);
     }},

    {"MarksAndLocksOfTheSameNameAreIndependent",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       const auto lock = run.provider().acquire("job", run.options());
       ASSERT_TRUE(marker->mark("job", 1h));
       EXPECT_EQ(marker->clear("job"), ClearOutcome::cleared);
       EXPECT_TRUE(lock.check());
       EXPECT_EQ(run.holders("job").size(), 1U);
     }},

    {"BadArgumentsAreTypedErrors",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       const std::string too_long(base::Name::kMaxSize, 'x');
       for (const std::string& key : {std::string(), too_long}) {
         EXPECT_EQ(error_of(marker->mark(key, 1h)), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(marker->try_mark(key, 1h)), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(marker->clear(key)), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(marker->is_marked(key)), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(marker->time_left(key)), ErrorCode::invalid_argument);
       }
       EXPECT_EQ(error_of(marker->mark("file", 99ms)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(marker->try_mark("file", -1s)), ErrorCode::invalid_argument);
       EXPECT_EQ(marker->is_marked("file"), false);
     }},

    {"ANameInUseForSomethingElseIsAConflict",
     [](LockRun& run) {
       const auto marker = marker_on(run);
       const store::Claim reader{.id = base::LeaseId::generate(),
                                 .owner = "a reader",
                                 .reason = {},
                                 .ttl = 1h,
                                 .permits = store::Permits::reader()};
       ASSERT_TRUE(run.store().claim("mark/file", reader));
       EXPECT_EQ(error_of(marker->mark("file", 1h)), ErrorCode::conflict);
       EXPECT_EQ(error_of(marker->try_mark("file", 1h)), ErrorCode::conflict);
       EXPECT_EQ(run.holders("mark/file").at(0).id, reader.id);
     }},
};

}  // namespace

std::span<const LockCase> mark_cases() { return kCases; }

}  // namespace holdfast::testing::internal
