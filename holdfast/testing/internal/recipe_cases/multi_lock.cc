#include <holdfast/recipes/multi_lock.h>

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
using locks::Lock;
using recipes::acquire_all;
using recipes::MultiLock;
using recipes::try_acquire_all;

AcquireOptions waiting(base::Duration wait) {
  AcquireOptions options = ProviderRun::options();
  options.wait = wait;
  return options;
}

bool is_busy(const base::Result<std::optional<MultiLock>>& outcome) {
  if (!outcome) {
    base::throw_error(outcome.error());
  }
  return !outcome->has_value();
}

// Acquires without waiting, or ends the case with an exception.
MultiLock hold_all(ProviderRun& run, std::vector<std::string> names,
                   const AcquireOptions& options) {
  auto all = base::value_or_throw(try_acquire_all(run.provider(), std::move(names), options));
  if (!all) {
    throw std::runtime_error("one of the names was busy");
  }
  return *std::move(all);
}

constexpr ProviderCase kCases[] = {
    {"HoldsAllNamesEachOnceInByteOrder",
     [](ProviderRun& run) {
       const MultiLock all = hold_all(run, {"b", "a", "B", "a", "b"}, run.options());
       ASSERT_EQ(all.locks().size(), 3U);
       EXPECT_EQ(all.locks()[0].name(), "B");
       EXPECT_EQ(all.locks()[1].name(), "a");
       EXPECT_EQ(all.locks()[2].name(), "b");
       EXPECT_TRUE(all.check());
       for (const Lock& lock : all.locks()) {
         EXPECT_EQ(run.holders(lock.name()).at(0).token, lock.token());
         EXPECT_TRUE(internal::is_busy(run.provider().try_acquire(lock.name(), run.options())));
       }
     }},

    {"IsReleasedWithTheHandle",
     [](ProviderRun& run) {
       {
         MultiLock all = hold_all(run, {"a", "b"}, run.options());
         MultiLock moved = std::move(all);
         EXPECT_TRUE(moved.check());
       }
       EXPECT_TRUE(run.holders("a").empty());
       EXPECT_TRUE(run.holders("b").empty());
       MultiLock again = hold_all(run, {"a", "b"}, run.options());
       EXPECT_EQ(again.release(), store::ReleaseOutcome::released);
       EXPECT_EQ(again.release(), store::ReleaseOutcome::not_held);
       EXPECT_EQ(error_of(again.check()), ErrorCode::not_held);
       EXPECT_FALSE(again.lost().stop_requested());
     }},

    {"IsAllOrNothing",
     [](ProviderRun& run) {
       const auto other = run.another_provider();
       const Lock last = other->acquire("c", run.options());
       EXPECT_TRUE(is_busy(try_acquire_all(run.provider(), {"c", "a", "b"}, run.options())));
       EXPECT_TRUE(run.holders("a").empty());
       EXPECT_TRUE(run.holders("b").empty());
     }},

    {"ReleasesWhatItHoldsWhenTheStoreFails",
     [](ProviderRun& run) {
       run.network().pass(Operation::claim);
       run.network().refuse(Operation::claim, 2);
       const auto failed = run.result_of_call(
           [&] { return try_acquire_all(run.provider(), {"a", "b"}, run.options()); });
       EXPECT_EQ(error_of(failed), ErrorCode::unavailable);
       EXPECT_TRUE(run.holders("a").empty());
     }},

    {"HasOneWaitForAllNames",
     [](ProviderRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       const auto other = run.another_provider();
       std::optional<Lock> first = other->acquire("a", run.options());
       const Lock second = other->acquire("b", run.options());
       auto outcome = run.in_background(
           [&] { return try_acquire_all(run.provider(), {"a", "b"}, waiting(100s)); });
       EXPECT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       run.pass(60s);
       first.reset();
       EXPECT_TRUE(run.soon([&] { return run.holders("a").size() == 1; }));
       EXPECT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       EXPECT_FALSE(run.has_ended(outcome));
       run.pass(40s);  // the rest of the wait, not another 100 s
       EXPECT_TRUE(run.soon([&] { return run.has_ended(outcome); }));
       EXPECT_TRUE(is_busy(outcome.get()));
       EXPECT_TRUE(run.holders("a").empty());
     }},

    {"IsLostWithTheFirstOfItsLocks",
     [](ProviderRun& run) {
       const MultiLock all = hold_all(run, {"a", "b"}, run.brief_options());
       const std::stop_token lost = all.lost();
       EXPECT_FALSE(lost.stop_requested());
       ASSERT_EQ(run.store().release("b", all.locks()[1].id()), store::ReleaseOutcome::released);
       EXPECT_TRUE(run.in_time([&] { return lost.stop_requested(); }));
       EXPECT_EQ(error_of(all.check()), ErrorCode::lost);
       EXPECT_TRUE(all.locks()[0].check());
     }},

    {"OppositeOrdersDoNotDeadlock",
     [](ProviderRun& run) {
       const auto other = run.another_provider();
       int shared = 0;  // protected by the names
       const int rounds = scaled(40);
       auto crowd = run.in_background([&] {
         together(4, [&](int i) {
           locks::LockProvider& provider = i % 2 == 0 ? run.provider() : *other;
           const std::vector<std::string> names = i < 2 ? std::vector<std::string>{"a", "b", "c"}
                                                        : std::vector<std::string>{"c", "b", "a"};
           for (int round = 0; round < rounds; ++round) {
             const MultiLock all = acquire_all(provider, names, waiting(24h));
             ++shared;
           }
         });
         return 0;
       });
       run.result_of(crowd);
       EXPECT_EQ(shared, 4 * rounds);
       EXPECT_TRUE(run.holders("a").empty());
     }},

    {"IsCancelledLikeALock",
     [](ProviderRun& run) {
       const auto other = run.another_provider();
       const Lock last = other->acquire("b", run.options());
       std::stop_source stop;
       AcquireOptions options = waiting(24h);
       options.stop = stop.get_token();
       auto outcome =
           run.in_background([&] { return try_acquire_all(run.provider(), {"a", "b"}, options); });
       EXPECT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       stop.request_stop();
       EXPECT_EQ(error_of(run.result_of(outcome)), ErrorCode::cancelled);
       EXPECT_TRUE(run.holders("a").empty());
     }},

    {"NeedsAtLeastOneNameAndValidNames",
     [](ProviderRun& run) {
       EXPECT_EQ(error_of(try_acquire_all(run.provider(), {})), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(try_acquire_all(run.provider(), {"a", ""}, run.options())),
                 ErrorCode::invalid_argument);
       EXPECT_TRUE(run.holders("a").empty());
       EXPECT_FALSE(MultiLock());
       EXPECT_EQ(error_of(MultiLock().check()), ErrorCode::not_held);
     }},
};

}  // namespace

std::span<const ProviderCase> multi_lock_cases() { return kCases; }

}  // namespace holdfast::testing::internal
