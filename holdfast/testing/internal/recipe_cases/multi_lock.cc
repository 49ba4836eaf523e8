#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;

AcquireOptions waiting(base::Duration wait) {
  AcquireOptions options = LockRun::options();
  options.wait = wait;
  return options;
}

// Acquires without waiting, or ends the case with an exception.
std::unique_ptr<MultiLockFace> hold_all(LockRun& run, const std::vector<std::string>& names,
                                        const AcquireOptions& options) {
  return must_have(run.recipes().try_acquire_all(names, options));
}

constexpr LockCase kCases[] = {
    {"HoldsAllNamesEachOnceInByteOrder",
     [](LockRun& run) {
       const auto all = hold_all(run, {"b", "a", "B", "a", "b"}, run.options());
       ASSERT_EQ(all->locks().size(), 3U);
       EXPECT_EQ(all->locks()[0].name, "B");
       EXPECT_EQ(all->locks()[1].name, "a");
       EXPECT_EQ(all->locks()[2].name, "b");
       EXPECT_TRUE(all->check());
       for (const LockView& lock : all->locks()) {
         EXPECT_EQ(run.holders(lock.name).at(0).token, lock.token);
         EXPECT_TRUE(is_busy(run.provider().try_acquire(lock.name, run.options())));
       }
     }},

    {"IsReleasedWithTheHandle",
     [](LockRun& run) {
       {
         const auto all = hold_all(run, {"a", "b"}, run.options());
         const auto moved = all->move_out();
         EXPECT_TRUE(moved->check());
       }
       EXPECT_TRUE(run.is_soon_free("a"));
       EXPECT_TRUE(run.is_soon_free("b"));
       const auto again = hold_all(run, {"a", "b"}, run.options());
       EXPECT_EQ(again->release(), store::ReleaseOutcome::released);
       EXPECT_EQ(again->release(), store::ReleaseOutcome::not_held);
       EXPECT_EQ(error_of(again->check()), ErrorCode::not_held);
       EXPECT_FALSE(again->lost().stop_requested());
     }},

    {"IsAllOrNothing",
     [](LockRun& run) {
       const auto other = run.another_provider();
       const auto last = other->acquire("c", run.options());
       EXPECT_TRUE(is_busy(run.recipes().try_acquire_all({"c", "a", "b"}, run.options())));
       EXPECT_TRUE(run.is_soon_free("a"));
       EXPECT_TRUE(run.is_soon_free("b"));
     }},

    {"ReleasesWhatItHoldsWhenTheStoreFails",
     [](LockRun& run) {
       run.network().pass(Operation::claim);
       run.network().refuse(Operation::claim, 2);
       const auto failed = run.result_of_call(
           [&] { return run.recipes().try_acquire_all({"a", "b"}, run.options()); });
       EXPECT_EQ(error_of(failed), ErrorCode::unavailable);
       EXPECT_TRUE(run.is_soon_free("a"));
     }},

    {"HasOneWaitForAllNames",
     [](LockRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       const auto other = run.another_provider();
       std::optional<LockUnderTest> first = other->acquire("a", run.options());
       const auto second = other->acquire("b", run.options());
       auto outcome = run.in_background(
           [&] { return run.recipes().try_acquire_all({"a", "b"}, waiting(100s)); });
       EXPECT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       run.pass(60s);
       first.reset();
       // In a few seconds of the run: a coroutine may not watch yet, and then polls.
       EXPECT_TRUE(run.in_time([&] { return run.holders("a").size() == 1; }));
       EXPECT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       EXPECT_FALSE(run.has_ended(outcome));
       run.pass(40s);  // the rest of the wait, not another 100 s
       EXPECT_TRUE(run.soon([&] { return run.has_ended(outcome); }));
       EXPECT_TRUE(is_busy(outcome.get()));
       EXPECT_TRUE(run.is_soon_free("a"));
     }},

    {"IsLostWithTheFirstOfItsLocks",
     [](LockRun& run) {
       const auto all = hold_all(run, {"a", "b"}, run.brief_options());
       const std::stop_token lost = all->lost();
       EXPECT_FALSE(lost.stop_requested());
       ASSERT_EQ(run.store().release("b", all->locks()[1].id), store::ReleaseOutcome::released);
       EXPECT_TRUE(run.in_time([&] { return lost.stop_requested(); }));
       EXPECT_EQ(error_of(all->check()), ErrorCode::lost);
       EXPECT_TRUE(all->locks()[0].check());
     }},

    {"OppositeOrdersDoNotDeadlock",
     [](LockRun& run) {
       const auto other = run.another_provider();
       int shared = 0;  // protected by the names
       const int rounds = scaled(40);
       auto crowd = run.in_background([&] {
         together(4, [&](int i) {
           const ProviderUnderTest& provider = i % 2 == 0 ? run.provider() : *other;
           const std::vector<std::string> names = i < 2 ? std::vector<std::string>{"a", "b", "c"}
                                                        : std::vector<std::string>{"c", "b", "a"};
           for (int round = 0; round < rounds; ++round) {
             const auto all = provider.recipes().acquire_all(names, waiting(24h));
             ++shared;
           }
         });
         return 0;
       });
       run.result_of(crowd);
       EXPECT_EQ(shared, 4 * rounds);
       EXPECT_TRUE(run.is_soon_free("a"));
     }},

    {"IsCancelledLikeALock",
     [](LockRun& run) {
       const auto other = run.another_provider();
       const auto last = other->acquire("b", run.options());
       std::stop_source stop;
       AcquireOptions options = waiting(24h);
       options.stop = stop.get_token();
       auto outcome =
           run.in_background([&] { return run.recipes().try_acquire_all({"a", "b"}, options); });
       EXPECT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       stop.request_stop();
       EXPECT_EQ(error_of(run.result_of(outcome)), ErrorCode::cancelled);
       EXPECT_TRUE(run.is_soon_free("a"));
     }},

    {"NeedsAtLeastOneNameAndValidNames",
     [](LockRun& run) {
       EXPECT_EQ(error_of(run.recipes().try_acquire_all({}, run.options())),
                 ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.recipes().try_acquire_all({"a", ""}, run.options())),
                 ErrorCode::invalid_argument);
       EXPECT_TRUE(run.is_soon_free("a"));
       const auto empty = run.recipes().empty_multi_lock();
       EXPECT_TRUE(empty->locks().empty());
       EXPECT_EQ(error_of(empty->check()), ErrorCode::not_held);
     }},
};

}  // namespace

std::span<const LockCase> multi_lock_cases() { return kCases; }

}  // namespace holdfast::testing::internal
