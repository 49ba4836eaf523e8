#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/lock_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using Lock = LockUnderTest;

constexpr LockCase kCases[] = {
    {"TryAcquireLocksAFreeName",
     [](LockRun& run) {
       AcquireOptions options = run.options();
       options.owner = "me@here";
       options.reason = "to see";
       const Lock lock = must_have(run.provider().try_acquire("job", options));
       EXPECT_TRUE(lock);
       EXPECT_EQ(lock.name(), "job");
       EXPECT_EQ(lock.owner(), "me@here");
       EXPECT_TRUE(lock.check());
       EXPECT_FALSE(lock.lost().stop_requested());
       EXPECT_GT(lock.time_left(), base::Duration::zero());
       EXPECT_LT(lock.time_left(), options.ttl->unchecked());
       const auto holders = run.holders("job");
       ASSERT_EQ(holders.size(), 1U);
       EXPECT_EQ(holders[0].id, lock.id());
       EXPECT_EQ(holders[0].token, lock.token());
       EXPECT_EQ(holders[0].owner, "me@here");
       EXPECT_EQ(holders[0].reason, "to see");
     }},

    {"AcquireLocksAFreeName",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.options());
       EXPECT_TRUE(lock.check());
       EXPECT_EQ(run.holders("job").at(0).id, lock.id());
     }},

    {"ALockedNameCannotBeAcquiredAgainNotEvenByItsHolder",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.options());
       EXPECT_TRUE(is_busy(run.provider().try_acquire("job", run.options())));
       EXPECT_TRUE(is_busy(run.another_provider()->try_acquire("job", run.options())));
       EXPECT_TRUE(lock.check());
       EXPECT_EQ(run.provider().held(), 1U);
     }},

    {"APrefixOfTheProviderKeepsItsNamesApart",
     [](LockRun& run) {
       const auto billing = run.another_provider({.prefix = "billing/"});
       const auto shipping = run.another_provider({.prefix = "shipping/"});
       const Lock ours = billing->acquire("job", run.options());
       const Lock theirs = shipping->acquire("job", run.options());
       const Lock plain = run.provider().acquire("job", run.options());
       EXPECT_EQ(ours.name(), "job");
       EXPECT_TRUE(is_busy(run.provider().try_acquire("billing/job", run.options())));
       const auto seen = billing->look("job");
       ASSERT_TRUE(seen && *seen);
       EXPECT_EQ((*seen)->name.view(), "job");
       EXPECT_EQ(run.holders("billing/job").at(0).id, ours.id());
       run.pass(run.ttl() * 3);
       EXPECT_TRUE(ours.check());
     }},

    {"SeveralNamesAreHeldAtTheSameTime",
     [](LockRun& run) {
       std::vector<Lock> held;
       for (int i = 0; i < 20; ++i) {
         held.push_back(run.provider().acquire("job " + std::to_string(i), run.options()));
       }
       EXPECT_EQ(run.provider().held(), 20U);
       for (const Lock& lock : held) {
         EXPECT_TRUE(lock.check());
       }
       held.clear();
       EXPECT_EQ(run.provider().held(), 0U);
       EXPECT_TRUE(base::value_or_throw(run.store().list("")).names.empty());
     }},

    {"ReacquireAfterReleaseWithAGreaterToken",
     [](LockRun& run) {
       Lock first = run.provider().acquire("job", run.options());
       const base::FencingToken before = first.token();
       EXPECT_EQ(first.release(), store::ReleaseOutcome::released);
       const Lock second = must_have(run.provider().try_acquire("job", run.options()));
       EXPECT_GT(second.token(), before);
     }},

    {"NamesAreCaseSensitive",
     [](LockRun& run) {
       const Lock lower = run.provider().acquire("job", run.options());
       const Lock upper = must_have(run.provider().try_acquire("JOB", run.options()));
       EXPECT_TRUE(is_busy(run.provider().try_acquire("job", run.options())));
     }},

    {"BadArgumentsAreRejectedAndLeaveNothingBehind",
     [](LockRun& run) {
       const std::string long_text(2000, 'x');
       const std::vector<AcquireOptions> bad{
           {.ttl = -1s},
           {.ttl = 0s},
           {.ttl = 99ms},
           {.ttl = std::chrono::hours::max()},
           {.ttl = std::chrono::hours(24 * 366)},
           {.ttl = 10s, .renew_every = 10s},
           {.ttl = 10s, .renew_every = 0s},
           {.ttl = 10s, .renew_every = -1s},
           {.ttl = 10s, .wait = -1s},
           {.ttl = 10s, .max_hold = -1s},
           {.ttl = 10s, .owner = long_text},
           {.ttl = 10s, .reason = long_text},
           {.ttl = 10s, .permits = {2, 1}},
       };
       for (const AcquireOptions& options : bad) {
         EXPECT_EQ(error_of(run.provider().try_acquire("job", options)),
                   ErrorCode::invalid_argument);
         EXPECT_EQ(code_thrown_by([&] { (void)run.provider().acquire("job", options); }),
                   ErrorCode::invalid_argument);
       }
       EXPECT_EQ(error_of(run.provider().try_acquire("", run.options())),
                 ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.provider().try_acquire(long_text, run.options())),
                 ErrorCode::invalid_argument);
       EXPECT_TRUE(run.holders("job").empty());
       EXPECT_EQ(run.provider().held(), 0U);
       EXPECT_EQ(run.provider().waiting(), 0U);
     }},

    {"IsLockedLookHeldAndListAgree",
     [](LockRun& run) {
       EXPECT_EQ(run.provider().is_locked("job"), false);
       EXPECT_FALSE(base::value_or_throw(run.provider().look("job")));
       {
         const Lock lock = run.provider().acquire("job", run.options());
         EXPECT_EQ(run.provider().is_locked("job"), true);
         EXPECT_EQ(run.another_provider()->is_locked("job"), true);
         const auto state = base::value_or_throw(run.provider().look("job"));
         ASSERT_TRUE(state);
         EXPECT_EQ(state->holders.at(0).id, lock.id());
         EXPECT_EQ(state->holders.at(0).owner, lock.owner());
         EXPECT_LE(state->holders.at(0).time_left, run.options().ttl->unchecked());
         const store::Page page = base::value_or_throw(run.provider().store().list("jo"));
         ASSERT_EQ(page.names.size(), 1U);
         EXPECT_EQ(page.names[0].name.view(), "job");
         EXPECT_EQ(run.provider().held(), 1U);
       }
       EXPECT_EQ(run.provider().is_locked("job"), false);
       EXPECT_EQ(run.provider().held(), 0U);
     }},

    {"AnExpiredLeaseIsNotLocked",
     [](LockRun& run) {
       run.abandon("job", run.ttl());
       EXPECT_EQ(run.provider().is_locked("job"), true);
       run.pass(run.ttl());
       EXPECT_EQ(run.provider().is_locked("job"), false);
       (void)must_have(run.provider().try_acquire("job", run.options()));
     }},

    {"TheOwnerDefaultsToTheProvidersOrToUserAtHostAndPid",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.options());
       EXPECT_EQ(lock.owner(), locks::default_owner());
       EXPECT_EQ(run.holders("job").at(0).owner, locks::default_owner());
       const auto named = run.another_provider({.owner = "the backup"});
       EXPECT_EQ(named->acquire("other", run.options()).owner(), "the backup");
     }},

    {"RenewAndReleaseByIdNeedNoHandle",
     [](LockRun& run) {
       const base::LeaseId id = run.abandon("job", run.ttl());
       EXPECT_EQ(run.provider().renew("job", id, 1h), store::RenewOutcome::renewed);
       run.pass(run.ttl());
       EXPECT_EQ(run.holders("job").at(0).id, id);
       EXPECT_EQ(run.provider().release("job", base::LeaseId::generate()),
                 store::ReleaseOutcome::not_held);
       EXPECT_EQ(run.provider().release("job", id), store::ReleaseOutcome::released);
       EXPECT_EQ(run.provider().renew("job", id, 1h), store::RenewOutcome::lost);
     }},

    {"PermitsAreSharedUpToTheCapacity",
     [](LockRun& run) {
       AcquireOptions options = run.options();
       options.permits = store::Permits::of(1, 2);
       const Lock one = run.provider().acquire("pool", options);
       const Lock two = run.another_provider()->acquire("pool", options);
       EXPECT_TRUE(is_busy(run.provider().try_acquire("pool", options)));
       EXPECT_EQ(error_of(run.provider().try_acquire("pool", run.options())), ErrorCode::conflict);
     }},
};

}  // namespace

std::span<const LockCase> acquire_cases() { return kCases; }

}  // namespace holdfast::testing::internal
