#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/lock_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using Lock = LockUnderTest;

AcquireOptions patient() {
  AcquireOptions options = LockRun::options();
  options.wait = 10min;
  return options;
}

// Applies one fault each time; afterwards the network works again.
void expect_acquired_in_spite_of(LockRun& run, void (FaultyStore::*fault)(Operation, int)) {
  (run.network().*fault)(Operation::claim, 2);
  const Lock lock =
      must_have(run.result_of_call([&] { return run.provider().try_acquire("job", patient()); }));
  const auto holders = run.holders("job");
  ASSERT_EQ(holders.size(), 1U);
  EXPECT_EQ(holders[0].id, lock.id());
  EXPECT_EQ(holders[0].token, lock.token());
  EXPECT_TRUE(lock.check());
}

// A provider that reports the results of its renewals, not only that it has sent them.
struct CountsRenewals {
  explicit CountsRenewals(LockRun& run) {
    locks::ProviderOptions options;
    options.metrics.count = [this](std::string_view what, std::string_view, std::uint64_t by) {
      failed += what == "renew_failed" ? by : 0;
      renewed += what == "renewed" ? by : 0;
    };
    provider = run.provider_with(std::move(options));
  }

  std::atomic<std::uint64_t> failed = 0;
  std::atomic<std::uint64_t> renewed = 0;
  std::unique_ptr<ProviderUnderTest> provider;
};

// A waiter is cancelled after the store has granted it the name but before the reply arrives.
void cancel_during_hand_over(LockRun& run, void (Gate::*end)()) {
  std::stop_source stop;
  AcquireOptions options = patient();
  options.stop = stop.get_token();
  Lock first = run.provider().acquire("job", run.options());
  auto waiting = run.in_background([&] { return run.provider().try_acquire("job", options); });
  ASSERT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
  const auto gate = run.network().hold_reply(Operation::transfer);
  auto releasing = run.in_background([&] { return first.release(); });
  gate->wait_until_reached();
  stop.request_stop();
  (*gate.*end)();
  (void)run.result_of(releasing);
  {
    // The cancellation may have come too late: then the caller has the lock.
    const auto outcome = run.result_of(waiting);
    EXPECT_EQ(error_of(outcome).value_or(ErrorCode::cancelled), ErrorCode::cancelled);
  }
  EXPECT_TRUE(run.holders("job").empty());
}

constexpr LockCase kCases[] = {
    {"ALockIsAcquiredAlthoughTheReplyToTheGrantIsLost",
     [](LockRun& run) { expect_acquired_in_spite_of(run, &FaultyStore::lose_reply); }},
    {"ALostRequestIsSentAgain",
     [](LockRun& run) { expect_acquired_in_spite_of(run, &FaultyStore::lose_request); }},
    {"ADuplicatedRequestAcquiresOneLock",
     [](LockRun& run) { expect_acquired_in_spite_of(run, &FaultyStore::duplicate); }},

    {"ALockIsAcquiredIfTheStoreAnswersAgainWithinTheWait",
     [](LockRun& run) {
       run.abandon("job", run.ttl());
       const std::size_t unasked = run.network().calls(Operation::claim);
       auto waiting =
           run.in_background([&] { return run.provider().try_acquire("job", patient()); });
       // A provider would give up on a store that was never reached.
       ASSERT_TRUE(run.soon([&] {
         return run.provider().waiting() == 1 && run.network().calls(Operation::claim) > unasked;
       }));
       run.network().go_away();
       const std::size_t before = run.network().calls(Operation::claim);
       ASSERT_TRUE(
           run.in_time([&] { return run.network().calls(Operation::claim) >= before + 2; }));
       run.network().come_back();
       (void)must_have(run.result_of(waiting));
     }},

    {"AnUnavailableStoreIsATypedErrorNotContention",
     [](LockRun& run) {
       run.network().go_away();
       EXPECT_EQ(error_of(run.provider().try_acquire("job", run.options())),
                 ErrorCode::unavailable);
       AcquireOptions options = run.options();
       options.wait = run.ttl();
       EXPECT_EQ(run.result_of_call([&] {
         return code_thrown_by([&] { (void)run.provider().acquire("job", options); });
       }),
                 ErrorCode::unavailable);
       EXPECT_EQ(error_of(run.provider().is_locked("job")), ErrorCode::unavailable);
       EXPECT_EQ(run.provider().waiting(), 0U);
     }},

    {"ATryWhoseRepliesAreAllLostLeavesNothingBehind",
     [](LockRun& run) {
       run.network().lose_reply(Operation::claim, 100);
       AcquireOptions options = run.options();
       options.wait = run.ttl();
       const auto outcome =
           run.result_of_call([&] { return run.provider().try_acquire("job", options); });
       EXPECT_EQ(error_of(outcome), ErrorCode::unknown_outcome);
       // In the background, if the call had no time left for it.
       EXPECT_TRUE(run.soon([&] { return run.holders("job").empty(); }));
       EXPECT_EQ(run.provider().held(), 0U);
     }},

    {"ACancelledAcquireLeavesNothingBehind",
     [](LockRun& run) {
       std::stop_source stop;
       AcquireOptions options = patient();
       options.stop = stop.get_token();
       const auto gate = run.network().hold_reply(Operation::claim);
       auto running = run.in_background([&] { return run.provider().try_acquire("job", options); });
       gate->wait_until_reached();
       EXPECT_EQ(run.holders("job").size(), 1U);
       stop.request_stop();
       gate->lose();
       {
         // On a repeated request the store may have answered first: then the caller has the lock.
         const auto outcome = run.result_of(running);
         EXPECT_EQ(error_of(outcome).value_or(ErrorCode::cancelled), ErrorCode::cancelled);
       }
       EXPECT_TRUE(run.holders("job").empty());
     }},

    {"ACancelledWaiterThatIsHandedTheNameLeavesNothingBehind",
     [](LockRun& run) { cancel_during_hand_over(run, &Gate::open); }},
    {"ACancelledWaiterDoesNotKeepAHandOverWhoseReplyIsLost",
     [](LockRun& run) { cancel_during_hand_over(run, &Gate::lose); }},

    {"AHandOverWhoseReplyIsLostStillReachesTheWaiter",
     [](LockRun& run) {
       Lock first = run.provider().acquire("job", run.options());
       auto waiting =
           run.in_background([&] { return run.provider().try_acquire("job", patient()); });
       ASSERT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       run.network().lose_reply(Operation::transfer);
       (void)first.release();
       const Lock second = must_have(run.result_of(waiting));
       ASSERT_EQ(run.holders("job").size(), 1U);
       EXPECT_EQ(run.holders("job")[0].id, second.id());
       EXPECT_EQ(run.holders("job")[0].token, second.token());
     }},

    {"AnAnswerSlowerThanTheValidityIsNotAGrant",
     [](LockRun& run) {
       const auto gate = run.network().hold_reply(Operation::claim);
       AcquireOptions options = run.brief_options();
       auto running = run.in_background([&] { return run.provider().try_acquire("job", options); });
       gate->wait_until_reached();
       run.pass(run.ttl());
       gate->open();
       const auto outcome = run.result_of(running);
       EXPECT_FALSE(outcome && outcome->has_value());
       EXPECT_TRUE(run.holders("job").empty());
       EXPECT_EQ(run.provider().held(), 0U);
     }},

    {"ALateAnswerDoesNotFreeALaterHolder",
     [](LockRun& run) {
       const auto gate = run.network().hold_reply(Operation::claim);
       auto running = run.in_background(
           [&] { return run.provider().try_acquire("job", run.brief_options()); });
       gate->wait_until_reached();
       run.pass(run.ttl());
       const auto other = run.another_provider();
       const Lock next = must_have(other->try_acquire("job", run.options()));
       gate->open();
       const auto outcome = run.result_of(running);
       EXPECT_FALSE(outcome && outcome->has_value());
       EXPECT_EQ(run.holders("job").at(0).id, next.id());
     }},

    {"AnOutageDuringTheHoldIsALossByTheLocalDeadline",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.brief_options());
       std::atomic<bool> told = false;
       const std::stop_callback callback(lock.lost(), [&] { told = true; });
       run.network().go_away();
       run.pass(run.ttl());
       EXPECT_EQ(error_of(lock.check()), ErrorCode::lost);
       EXPECT_TRUE(run.soon([&] { return told.load(); }));
       EXPECT_TRUE(run.soon([&] { return run.provider().held() == 0; }));
     }},

    {"AnOutageThatEndsBeforeTheDeadlineIsNoLoss",
     [](LockRun& run) {
       CountsRenewals counts(run);
       const Lock lock = counts.provider->acquire("job", run.brief_options());
       run.network().refuse(Operation::renew, 2);
       run.pass(run.ttl() * 2 / 5);
       ASSERT_TRUE(run.soon([&] { return counts.failed >= 1; }));
       run.pass(run.ttl() / 5);
       ASSERT_TRUE(run.soon([&] { return counts.failed >= 2; }));
       run.pass(run.ttl() / 5);
       ASSERT_TRUE(run.soon([&] { return counts.renewed >= 1; }));
       run.keep_for("job", run.ttl());
       EXPECT_TRUE(lock.check());
       EXPECT_FALSE(lock.lost().stop_requested());
     }},

    {"ARenewalWhoseReplyIsLostIsNoLoss",
     [](LockRun& run) {
       CountsRenewals counts(run);
       const Lock lock = counts.provider->acquire("job", run.brief_options());
       run.network().lose_reply(Operation::renew);
       run.pass(run.ttl() * 2 / 5);
       ASSERT_TRUE(run.soon([&] { return counts.failed >= 1; }));
       run.pass(run.ttl() / 5);
       ASSERT_TRUE(run.soon([&] { return counts.renewed >= 1; }));
       run.keep_for("job", run.ttl());
       EXPECT_TRUE(lock.check());
     }},

    {"ARenewalThatIsAnsweredAfterTheEndIsALoss",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.brief_options());
       std::atomic<bool> told = false;
       const std::stop_callback callback(lock.lost(), [&] { told = true; });
       const auto gate = run.network().hold_reply(Operation::renew);
       run.network().lose_request(Operation::renew, 10'000);  // no later attempt renews it either
       run.pass(run.ttl() * 2 / 5);
       gate->wait_until_reached();
       run.pass(run.ttl() * 4 / 5);  // a renewed lease would last longer
       gate->open();
       EXPECT_TRUE(run.soon([&] { return told.load(); }));
       EXPECT_EQ(error_of(lock.check()), ErrorCode::lost);
     }},

    {"LostFiresWhileTheStoreHangs",
     [](LockRun& run) {
       const Lock lock = run.provider().acquire("job", run.brief_options());
       std::atomic<bool> told = false;
       const std::stop_callback callback(lock.lost(), [&] { told = true; });
       const auto gate = run.network().hold_request(Operation::renew);
       run.network().lose_request(Operation::renew, 10'000);
       gate->wait_until_reached();
       // The gate stays closed until then, and no later attempt is answered either.
       EXPECT_TRUE(run.soon([&] { return told.load(); }));
       EXPECT_EQ(error_of(lock.check()), ErrorCode::lost);
       gate->open();
     },
     CaseTime::real},

    {"AReleaseWhoseReplyIsLostHasFreedTheName",
     [](LockRun& run) {
       Lock lock = run.provider().acquire("job", run.options());
       run.network().lose_reply(Operation::release);
       const auto outcome = lock.release();
       EXPECT_TRUE(outcome || outcome.error().code == ErrorCode::unknown_outcome);
       EXPECT_TRUE(run.holders("job").empty());
       EXPECT_EQ(error_of(lock.check()), ErrorCode::not_held);
     }},

    {"ALockThatCannotBeReleasedExpires",
     [](LockRun& run) {
       std::optional<Lock> lock = run.provider().acquire("job", run.brief_options());
       run.network().go_away();
       lock.reset();
       EXPECT_EQ(run.provider().held(), 0U);
       run.network().come_back();
       run.pass(run.ttl());
       EXPECT_TRUE(run.holders("job").empty());
     }},
};

}  // namespace

std::span<const LockCase> fault_cases() { return kCases; }

}  // namespace holdfast::testing::internal
