#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/lock_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using locks::LockState;
using Lock = LockUnderTest;
using store::ReleaseOutcome;

constexpr LockCase kCases[] = {
    {"ReleasingManyTimesIsHarmlessAndReported",
     [](LockRun& run) {
       Lock lock = run.provider().acquire("job", run.options());
       EXPECT_TRUE(lock);
       EXPECT_EQ(lock.release(), ReleaseOutcome::released);
       EXPECT_FALSE(lock);
       EXPECT_EQ(lock.name(), "job");
       for (int i = 0; i < 3; ++i) {
         EXPECT_EQ(lock.release(), ReleaseOutcome::not_held);
       }
       EXPECT_EQ(error_of(lock.check()), ErrorCode::not_held);
       EXPECT_EQ(lock.time_left(), base::Duration::zero());
       EXPECT_EQ(run.provider().held(), 0U);
     }},

    {"NeitherReleaseNorDestructionFreesASuccessor",
     [](LockRun& run) {
       std::optional<Lock> first = run.provider().acquire("job", run.options());
       EXPECT_EQ(first->release(), ReleaseOutcome::released);
       const Lock second = run.provider().acquire("job", run.options());
       EXPECT_EQ(first->release(), ReleaseOutcome::not_held);
       EXPECT_TRUE(second.check());
       first.reset();
       EXPECT_TRUE(second.check());
       EXPECT_EQ(run.holders("job").at(0).id, second.id());
     }},

    {"AHandleWithAnExpiredLeaseDoesNotFreeASuccessor",
     [](LockRun& run) {
       std::optional<Lock> first = run.provider().acquire("job", run.brief_options());
       run.network().go_away();
       ASSERT_TRUE(run.in_time([&] { return run.holders("job").empty(); }));
       run.network().come_back();
       const Lock second = run.another_provider()->acquire("job", run.options());
       EXPECT_EQ(first->release(), ReleaseOutcome::not_held);
       first.reset();
       EXPECT_EQ(run.holders("job").at(0).id, second.id());
     }},

    {"DestructionReleases",
     [](LockRun& run) {
       {
         const Lock lock = run.provider().acquire("job", run.options());
       }
       EXPECT_TRUE(run.holders("job").empty());
       EXPECT_EQ(run.provider().held(), 0U);
     }},

    {"DestructionKeepsTheLeaseWhenAsked",
     [](LockRun& run) {
       AcquireOptions options = run.brief_options();
       options.on_destroy = locks::OnDestroy::keep;
       base::LeaseId id;
       {
         const Lock lock = run.provider().acquire("job", options);
         id = lock.id();
       }
       EXPECT_EQ(run.provider().held(), 0U);
       ASSERT_EQ(run.holders("job").size(), 1U);
       EXPECT_EQ(run.holders("job")[0].id, id);
       // It is no longer renewed.
       run.pass(run.ttl());
       EXPECT_TRUE(run.holders("job").empty());
     }},

    {"DetachLeavesTheLeaseToItsId",
     [](LockRun& run) {
       Lock lock = run.provider().acquire("job", run.options());
       const base::LeaseId id = lock.id();
       EXPECT_EQ(lock.detach(), id);
       EXPECT_FALSE(lock);
       EXPECT_EQ(run.provider().held(), 0U);
       EXPECT_EQ(lock.release(), ReleaseOutcome::not_held);
       EXPECT_EQ(run.provider().renew("job", id, 1h), store::RenewOutcome::renewed);
       EXPECT_EQ(run.provider().release("job", id), ReleaseOutcome::released);
     }},

    {"AMovedFromHandleHoldsNothing",
     [](LockRun& run) {
       Lock first = run.provider().acquire("job", run.options());
       const base::LeaseId id = first.id();
       Lock second(std::move(first));
       // NOLINTBEGIN(bugprone-use-after-move): what this case is about.
       EXPECT_FALSE(first);
       EXPECT_EQ(error_of(first.check()), ErrorCode::not_held);
       EXPECT_EQ(first.release(), ReleaseOutcome::not_held);
       EXPECT_EQ(first.time_left(), base::Duration::zero());
       EXPECT_FALSE(first.lost().stop_requested());
       // NOLINTEND(bugprone-use-after-move)
       EXPECT_EQ(second.id(), id);
       EXPECT_TRUE(second.check());
       EXPECT_EQ(run.holders("job").at(0).id, id);
     }},

    {"AssigningToAHandleReleasesItsLock",
     [](LockRun& run) {
       Lock lock = run.provider().acquire("one", run.options());
       lock = run.provider().acquire("two", run.options());
       EXPECT_TRUE(run.holders("one").empty());
       EXPECT_EQ(lock.name(), "two");
       EXPECT_TRUE(lock.check());
       lock = Lock();
       EXPECT_FALSE(lock);
       EXPECT_TRUE(run.holders("two").empty());
     }},

    {"ASelfMovedHandleStillHolds",
     [](LockRun& run) {
       Lock lock = run.provider().acquire("job", run.options());
       Lock& same = lock;
       lock = std::move(same);
       EXPECT_TRUE(lock);
       EXPECT_TRUE(lock.check());
       EXPECT_EQ(run.holders("job").size(), 1U);
     }},

    {"AnEmptyHandleIsHarmless",
     [](LockRun&) {
       Lock lock;
       EXPECT_FALSE(lock.holds());
       EXPECT_EQ(lock.state(), LockState::released);
       EXPECT_EQ(error_of(lock.check()), ErrorCode::not_held);
       EXPECT_EQ(lock.release(), ReleaseOutcome::not_held);
       EXPECT_EQ(lock.time_left(), base::Duration::zero());
       EXPECT_FALSE(lock.lost().stop_requested());
       EXPECT_TRUE(lock.detach().is_nil());
     }},

    {"TheStateFollowsTheLifeOfALock",
     [](LockRun& run) {
       AcquireOptions options = run.options();
       options.renew_every = 100ms;
       Lock lock = run.provider().acquire("job", options);
       EXPECT_TRUE(run.soon([&] { return lock.state() == LockState::acquired; }));
       // Several, because a request gives up after a while and is sent again.
       std::vector<std::shared_ptr<Gate>> gates;
       for (int i = 0; i < 20; ++i) {
         gates.push_back(run.network().hold_request(Operation::renew));
       }
       ASSERT_TRUE(run.in_time([&] { return lock.state() == LockState::extending; }));
       EXPECT_TRUE(lock.check());
       for (const auto& gate : gates) {
         gate->open();
       }
       ASSERT_TRUE(run.in_time([&] { return lock.state() == LockState::acquired; }));
       EXPECT_EQ(lock.release(), ReleaseOutcome::released);
       EXPECT_EQ(lock.state(), LockState::released);
     }},

    {"ALostLockIsInTheStateLost",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.brief_options());
       run.network().go_away();
       ASSERT_TRUE(run.in_time([&] { return lock.state() == LockState::lost; }));
       EXPECT_TRUE(lock.lost().stop_requested());
       EXPECT_TRUE(lock) << "it is still to be released";
     }},

    {"ALockKnowsWhenItWasAcquired",
     [](LockRun& run) {
       const Lock first = run.provider().acquire("one", run.options());
       run.pass(100ms);
       const Lock second = run.provider().acquire("two", run.options());
       EXPECT_GE(second.acquired_at() - first.acquired_at(), 100ms);
     }},

    {"AHandleMayOutliveItsProvider",
     [](LockRun& run) {
       std::optional<Lock> lock = run.provider().acquire("job", run.options());
       run.destroy_provider();
       EXPECT_EQ(lock->name(), "job");
       lock.reset();
       EXPECT_TRUE(run.holders("job").empty());
     }},

    {"WithoutItsProviderALockExpiresAndIsLostInTime",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.brief_options());
       run.destroy_provider();
       run.pass(run.ttl());
       EXPECT_EQ(error_of(lock.check()), ErrorCode::lost);
       EXPECT_TRUE(lock.lost().stop_requested());
       EXPECT_TRUE(run.holders("job").empty());
     }},
};

}  // namespace

std::span<const LockCase> handle_cases() { return kCases; }

}  // namespace holdfast::testing::internal
