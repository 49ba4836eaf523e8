#include <atomic>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using store::Claim;
using store::Watch;

// Returns whether the engine promises to call back; without that, `watch` is accepted but silent.
bool pushes(StoreRun& run) { return run.store().capabilities().push; }

// Expects that a release through `releaser` wakes a watcher, several times over: an engine may call
// a watcher of its own accord when it begins to watch at all.
void expect_that_releases_wake(StoreRun& run, store::LeaseStore& releaser) {
  for (int round = 0; round < 3; ++round) {
    const Claim claim = wish();
    (void)granted(run.store().claim("job", claim));
    std::atomic<int> calls = 0;
    const Watch watch =
        base::value_or_throw(run.store().watch("job", [&](const auto&) { ++calls; }));
    EXPECT_EQ(releaser.release("job", claim.id), store::ReleaseOutcome::released);
    ASSERT_TRUE(eventually([&] { return calls > 0; })) << "in round " << round;
  }
}

constexpr StoreCase kCases[] = {
    {"AReleaseWakesAWatcher",
     [](StoreRun& run) {
       if (!pushes(run)) {
         GTEST_SKIP() << "the engine does not promise to push";
       }
       expect_that_releases_wake(run, run.store());
     }},

    {"AReleaseThroughAnotherHandleWakesAWatcher",
     [](StoreRun& run) {
       if (!pushes(run)) {
         GTEST_SKIP() << "the engine does not promise to push";
       }
       expect_that_releases_wake(run, *run.open());
     }},

    {"EveryWatcherOfANameIsWoken",
     [](StoreRun& run) {
       if (!pushes(run)) {
         GTEST_SKIP() << "the engine does not promise to push";
       }
       const Claim claim = wish();
       (void)granted(run.store().claim("job", claim));
       std::atomic<int> first = 0;
       std::atomic<int> second = 0;
       const Watch one =
           base::value_or_throw(run.store().watch("job", [&](const auto&) { ++first; }));
       const Watch two =
           base::value_or_throw(run.store().watch("job", [&](const auto&) { ++second; }));
       run.release("job", claim.id);
       EXPECT_TRUE(eventually([&] { return first > 0 && second > 0; }));
     }},

    {"AReleaseOfOnePermitWakesAWatcher",
     [](StoreRun& run) {
       if (!pushes(run)) {
         GTEST_SKIP() << "the engine does not promise to push";
       }
       const Claim claim = wish(kLong, store::Permits::of(1, 2));
       (void)granted(run.store().claim("pool", claim));
       (void)granted(run.store().claim("pool", wish(kLong, store::Permits::of(1, 2))));
       std::atomic<int> calls = 0;
       const Watch watch =
           base::value_or_throw(run.store().watch("pool", [&](const auto&) { ++calls; }));
       run.release("pool", claim.id);
       EXPECT_TRUE(eventually([&] { return calls > 0; }));
     }},

    {"NoCallComesAfterAWatchHasEnded",
     [](StoreRun& run) {
       for (int round = 0; round < scaled(200); ++round) {
         const Claim claim = wish();
         (void)granted(run.store().claim("job", claim));
         std::atomic<bool> ended = false;
         std::atomic<bool> late = false;
         Watch watch = base::value_or_throw(
             run.store().watch("job", [&](const auto&) { late = late || ended.load(); }));
         std::jthread releaser([&] { (void)run.store().release("job", claim.id); });
         watch.reset();
         ended = true;
         releaser.join();
         ASSERT_FALSE(late);
       }
     }},

    {"AWatchMayOutliveItsStore",
     [](StoreRun& run) {
       auto other = run.open();
       const Watch watch = base::value_or_throw(other->watch("job", [](const auto&) {}));
       other.reset();
       run.restart();
     }},

    {"AWatchWithoutACallbackOrWithABadNameIsRejected",
     [](StoreRun& run) {
       EXPECT_EQ(error_of(run.store().watch("job", nullptr)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.store().watch("", [](const auto&) {})), ErrorCode::invalid_argument);
     }},
};

}  // namespace

std::span<const StoreCase> watch_cases() { return kCases; }

}  // namespace holdfast::testing::internal
