// Every row of the table in acquire_steps.h. The test answers instead of a store.
#include <holdfast/locks/steps/acquire_steps.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/internal/provider_core.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks::steps {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::Result;
using Kind = Step::Kind;

struct Flag final : Waker {
  void wake() noexcept override { is_woken = true; }
  bool is_woken = false;
};

// One call, and the answers to its steps.
class Call {
 public:
  Call(LockProvider& provider, const AcquireOptions& how,
       AcquireSteps::Joins joins = AcquireSteps::Joins::when_busy)
      : Call(provider, how, "job", joins) {}
  Call(LockProvider& provider, const AcquireOptions& how, std::string_view name,
       AcquireSteps::Joins joins = AcquireSteps::Joins::when_busy)
      : how_(how), steps_(*provider.core(), name, how_, 0s, flag_, joins) {}

  Kind start() { return take(steps_.start()); }
  Kind granted(base::Duration time_left = 1h) {
    return take(steps_.on(Result<store::ClaimOutcome>(
        store::Grant{.token = base::FencingToken(1), .time_left = time_left})));
  }
  Kind busy(bool pending = false) {
    return take(steps_.on(Result<store::ClaimOutcome>(
        store::Busy{.holders = {}, .frees_in = 1h, .pending = pending})));
  }
  Kind fails(ErrorCode code) {
    return take(steps_.on(Result<store::ClaimOutcome>(base::fail(code, "on purpose"))));
  }
  Kind subscribed() {
    steps_.watch();
    return take(steps_.on({}));
  }
  Kind released() {
    return take(steps_.on(Result<store::ReleaseOutcome>(store::ReleaseOutcome::released)));
  }
  Kind release_fails() {
    return take(
        steps_.on(Result<store::ReleaseOutcome>(base::fail(ErrorCode::unavailable, "on purpose"))));
  }
  Kind store_throws() { return take(steps_.on_exception()); }
  Kind woken() { return take(steps_.on(Woken{.by_waker = true})); }
  Kind time_passes() { return take(steps_.on(Woken{.by_waker = false})); }
  void cancel() { steps_.cancel(); }

  [[nodiscard]] const Step& step() const { return step_; }
  [[nodiscard]] base::LeaseId id() const { return step_.claim->id; }
  [[nodiscard]] bool is_woken() const { return flag_.is_woken; }
  // Returns nullopt if it has acquired the name or timed out.
  [[nodiscard]] std::optional<ErrorCode> error() {
    return steps_.outcome() ? std::nullopt : std::optional(steps_.outcome().error().code);
  }
  [[nodiscard]] std::optional<Lock> lock() {
    return base::value_or_throw(std::move(steps_.outcome()));
  }

 private:
  Kind take(Step step) {
    step_ = step;
    return step.kind;
  }

  const AcquireOptions how_;
  Flag flag_;
  AcquireSteps steps_;
  Step step_;
};

// A store that says of itself that it has a queue of waiters. The tests answer for that queue.
class QueueStore final : public store::LeaseStore {
 public:
  explicit QueueStore(std::shared_ptr<store::LeaseStore> real) : real_(std::move(real)) {}

  [[nodiscard]] store::Capabilities capabilities() const override {
    store::Capabilities capabilities = real_->capabilities();
    capabilities.queues_claims = true;
    return capabilities;
  }

 private:
  Result<store::ClaimOutcome> do_claim(const base::Name& name, const store::Claim& claim,
                                       base::Deadline deadline) override {
    return real_->claim(name.view(), claim, deadline);
  }
  Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                                    base::Deadline deadline) override {
    return real_->renew(renewals, deadline);
  }
  Result<store::TransferOutcome> do_transfer(const base::Name& name, const base::LeaseId& from,
                                             const store::Claim& to,
                                             base::Deadline deadline) override {
    return real_->transfer(name.view(), from, to, deadline);
  }
  Result<store::ReleaseOutcome> do_release(const base::Name& name, const base::LeaseId& id,
                                           base::Deadline deadline) override {
    return real_->release(name.view(), id, deadline);
  }
  Result<std::optional<store::NameState>> do_look(const base::Name& name,
                                                  base::Deadline deadline) override {
    return real_->look(name.view(), deadline);
  }
  Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& page,
                              base::Deadline deadline) override {
    return real_->list(prefix, page, deadline);
  }
  Result<store::HitOutcome> do_hit(const base::Name& name, const store::Hit& hit,
                                   base::Deadline deadline) override {
    return real_->hit(name.view(), hit, deadline);
  }
  Result<store::Watch> do_watch(const base::Name& name, store::WatchCallback callback) override {
    return real_->watch(name.view(), std::move(callback));
  }

  const std::shared_ptr<store::LeaseStore> real_;
};

class AcquireStepsTest : public ::testing::Test {
 protected:
  // Returns a call that is the first in the queue and waits.
  std::unique_ptr<Call> first_in_queue() { return first_in_queue(provider_); }
  std::unique_ptr<Call> first_in_queue(LockProvider& provider) {
    auto call = std::make_unique<Call>(provider, kPatient);
    EXPECT_EQ(call->start(), Kind::claim);
    EXPECT_EQ(call->busy(), Kind::watch);
    EXPECT_EQ(call->subscribed(), Kind::claim);
    EXPECT_EQ(call->busy(), Kind::wait);
    return call;
  }
  // Returns a lock after as many hand-overs as a provider makes before the store chooses.
  std::optional<Lock> last_of_a_row(LockProvider& provider) {
    std::optional<Lock> held = provider.acquire("job", kPatient);
    for (int hand_overs = 0; hand_overs < 16 && held; ++hand_overs) {
      const auto next = first_in_queue(provider);
      EXPECT_TRUE(held->release());
      EXPECT_EQ(next->woken(), Kind::done);
      held = next->lock();
    }
    return held;
  }
  void give_up(Call& call) {
    call.cancel();
    EXPECT_EQ(call.woken(), Kind::done);
    EXPECT_EQ(call.error(), ErrorCode::cancelled);
  }

  // Returns a call whose claim, the only one that it made, was answered with a lost reply.
  std::unique_ptr<Call> with_a_lost_reply() {
    auto call = std::make_unique<Call>(provider_, kPatient);
    EXPECT_EQ(call->start(), Kind::claim);
    EXPECT_EQ(call->fails(ErrorCode::unknown_outcome), Kind::watch);
    return call;
  }

  const AcquireOptions kPatient{.ttl = 1h, .wait = 1h};
  base::ManualClock clock_;
  // Only watched: no step is asked of it here but the release of a lock that was acquired.
  const std::shared_ptr<engines::memory::MemoryStore> store_ =
      std::make_shared<engines::memory::MemoryStore>(
          engines::memory::MemoryOptions{.clock = &clock_, .sweep_every = base::Duration::zero()});
  // Shows no waiters: what that takes, and when, is tested below.
  LockProvider provider_{store_, {.clock = &clock_, .announce_after = base::Duration::max()}};
};

TEST_F(AcquireStepsTest, InvalidOptionsEndItAtOnce) {
  Call call(provider_, {.wait = -1s});
  EXPECT_EQ(call.start(), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::invalid_argument);
}

TEST_F(AcquireStepsTest, ACallThatIsStoppedAlreadyAsksNothing) {
  Call call(provider_, kPatient);
  call.cancel();
  EXPECT_EQ(call.start(), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::cancelled);
}

TEST_F(AcquireStepsTest, AGrantIsKept) {
  Call call(provider_, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.granted(), Kind::done);
  EXPECT_TRUE(call.lock());
  EXPECT_EQ(provider_.waiting(), 0U);
}

TEST_F(AcquireStepsTest, BehindOthersItWaitsWithoutAClaim) {
  const auto first = first_in_queue();
  Call second(provider_, kPatient);
  EXPECT_EQ(second.start(), Kind::wait);
  EXPECT_EQ(second.step().until, clock_.now() + 5s) << "to warn; it does not poll";
  give_up(*first);
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(second.woken(), Kind::claim);
  EXPECT_EQ(second.granted(), Kind::done);
  EXPECT_TRUE(second.lock());
}

TEST_F(AcquireStepsTest, IfOthersJoinedDuringItsFirstClaimItWaitsBehindThemAndDoesNotPoll) {
  Call late(provider_, kPatient);
  EXPECT_EQ(late.start(), Kind::claim);
  const auto first = first_in_queue();
  EXPECT_EQ(late.busy(), Kind::wait);
  EXPECT_EQ(late.step().until, clock_.now() + 5s) << "to warn";
  give_up(late);
  give_up(*first);
}

TEST_F(AcquireStepsTest, TheFirstThatJoinsAtOnceClaims) {
  Call first(provider_, kPatient, AcquireSteps::Joins::at_once);
  Call second(provider_, kPatient, AcquireSteps::Joins::at_once);
  EXPECT_EQ(first.start(), Kind::claim);
  EXPECT_EQ(second.start(), Kind::wait);
  EXPECT_EQ(first.busy(), Kind::watch);
  EXPECT_EQ(first.subscribed(), Kind::claim);
  EXPECT_EQ(first.granted(), Kind::done);
  give_up(second);
}

TEST_F(AcquireStepsTest, BusyForTheLastTimeItTimesOut) {
  Call call(provider_, {.ttl = 1h, .wait = 0s});
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.busy(), Kind::done);
  EXPECT_FALSE(call.lock());
}

TEST_F(AcquireStepsTest, AFailureThatPassesIsWaitedOut) {
  Call call(provider_, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.fails(ErrorCode::unavailable), Kind::watch);
  EXPECT_EQ(call.subscribed(), Kind::claim);
  EXPECT_EQ(call.granted(), Kind::done);
  EXPECT_TRUE(call.lock());
}

TEST_F(AcquireStepsTest, AnotherFailureEndsIt) {
  Call call(provider_, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.fails(ErrorCode::corrupt), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::corrupt);
}

TEST_F(AcquireStepsTest, TheFirstClaimsWhenItIsWokenAndWhenItIsTimeToPoll) {
  const auto call = first_in_queue();
  EXPECT_EQ(call->woken(), Kind::claim);
  EXPECT_EQ(call->busy(), Kind::wait);
  EXPECT_EQ(call->time_passes(), Kind::wait) << "it is not time";
  clock_.set(call->step().until);
  EXPECT_EQ(call->time_passes(), Kind::claim);
  EXPECT_EQ(call->busy(), Kind::wait);
  give_up(*call);
}

TEST_F(AcquireStepsTest, AtTheEndOfItsWaitItClaimsForTheLastTime) {
  const auto call = first_in_queue();
  clock_.advance(1h);
  EXPECT_EQ(call->time_passes(), Kind::claim);
  EXPECT_FALSE(call->step().claim->waits);
  EXPECT_EQ(call->busy(), Kind::done);
  EXPECT_FALSE(call->lock());
}

TEST_F(AcquireStepsTest, AHandOverIsKeptWithoutAClaim) {
  Lock held = provider_.acquire("job", kPatient);
  const auto call = first_in_queue();
  EXPECT_TRUE(held.release());
  EXPECT_EQ(call->woken(), Kind::done);
  EXPECT_TRUE(call->lock());
}

TEST_F(AcquireStepsTest, ItDoesNotLeaveWhileAHandOverIsUnderWay) {
  Call holder(provider_, kPatient);
  EXPECT_EQ(holder.start(), Kind::claim);
  EXPECT_EQ(holder.granted(), Kind::done);
  const std::optional<Lock> held = holder.lock();
  const auto call = first_in_queue();
  {
    ReleaseSteps release(*held->hold());
    EXPECT_EQ(release.start().kind, Kind::transfer);
    call->cancel();
    EXPECT_EQ(call->woken(), Kind::wait);
    EXPECT_EQ(release
                  .on(Result<store::TransferOutcome>(
                      store::Grant{.token = base::FencingToken(2), .time_left = 1h}))
                  .kind,
              Kind::done);
  }
  // It has the lease, and does not want it.
  EXPECT_EQ(call->woken(), Kind::release);
  EXPECT_EQ(call->released(), Kind::done);
  EXPECT_EQ(call->error(), ErrorCode::cancelled);
}

TEST_F(AcquireStepsTest, AHandOverThatEndsAfterItsWaitIsKept) {
  Lock held = provider_.acquire("job", kPatient);
  Call call(provider_, {.ttl = 1h, .wait = 1s}, AcquireSteps::Joins::at_once);
  EXPECT_EQ(call.start(), Kind::claim);
  {
    ReleaseSteps release(*held.hold());
    EXPECT_EQ(release.start().kind, Kind::transfer);
    clock_.advance(1s);
    EXPECT_EQ(call.busy(), Kind::claim) << "the last one";
    EXPECT_EQ(call.busy(), Kind::wait) << "it is leaving";
    const store::Grant grant{.token = base::FencingToken(2), .time_left = 1h};
    EXPECT_EQ(release.on(Result<store::TransferOutcome>(grant)).kind, Kind::done);
  }
  EXPECT_EQ(call.woken(), Kind::done);
  EXPECT_TRUE(call.lock());
}

TEST_F(AcquireStepsTest, AClaimThatWaitsInTheStoreIsReleasedByItsId) {
  const auto call = first_in_queue();
  EXPECT_EQ(call->woken(), Kind::claim);
  EXPECT_TRUE(call->step().claim->waits);
  EXPECT_EQ(call->busy(true), Kind::wait);
  call->cancel();
  EXPECT_EQ(call->woken(), Kind::release);
  EXPECT_EQ(call->released(), Kind::done);
  EXPECT_EQ(call->error(), ErrorCode::cancelled);
}

TEST_F(AcquireStepsTest, TheFirstClaimWaitsInTheStoreIfTheCallerIsWillingToWait) {
  Call patient(provider_, kPatient);
  EXPECT_EQ(patient.start(), Kind::claim);
  EXPECT_TRUE(patient.step().claim->waits);
  EXPECT_EQ(patient.granted(), Kind::done);
  EXPECT_TRUE(patient.lock());
  Call hasty(provider_, {.ttl = 1h, .wait = 0s});
  EXPECT_EQ(hasty.start(), Kind::claim);
  EXPECT_FALSE(hasty.step().claim->waits);
  EXPECT_EQ(hasty.busy(), Kind::done);
}

TEST_F(AcquireStepsTest, APollIsNeverSoLateThatTheCallerWaitsForTooLong) {
  for (int i = 0; i < 40; ++i) {  // the pauses are random
    Call call(provider_, {.ttl = 1h, .wait = 600ms});
    const base::TimePoint deadline = clock_.now() + 600ms;
    EXPECT_EQ(call.start(), Kind::claim);
    EXPECT_EQ(call.busy(), Kind::watch);
    EXPECT_EQ(call.subscribed(), Kind::claim);
    EXPECT_EQ(call.busy(), Kind::wait);
    EXPECT_LE(call.step().until + call.step().slack, deadline);
    give_up(call);
  }
}

TEST_F(AcquireStepsTest, BehindOthersAClaimThatWaitsInTheStoreIsTakenOutOfItsQueue) {
  Call second(provider_, kPatient);
  EXPECT_EQ(second.start(), Kind::claim);
  const auto first = first_in_queue();  // while the second one has no answer
  EXPECT_EQ(second.busy(true), Kind::claim);
  EXPECT_FALSE(second.step().claim->waits);
  EXPECT_EQ(second.busy(false), Kind::wait);
  give_up(second);
  give_up(*first);
}

TEST_F(AcquireStepsTest, BehindOthersAGrantThatNobodySawIsConfirmed) {
  Call second(provider_, kPatient);
  EXPECT_EQ(second.start(), Kind::claim);
  const auto first = first_in_queue();
  EXPECT_EQ(second.busy(true), Kind::claim);
  EXPECT_EQ(second.granted(), Kind::done);
  EXPECT_TRUE(second.lock());
  give_up(*first);
}

TEST_F(AcquireStepsTest, BeforeTheStoreChoosesTheNextWaiterJoinsItsQueue) {
  LockProvider provider(std::make_shared<QueueStore>(store_), {.clock = &clock_});
  const std::optional<Lock> held = last_of_a_row(provider);
  ASSERT_TRUE(held);
  const auto next = first_in_queue(provider);
  ReleaseSteps release(*held->hold());
  const Step step = release.start();
  ASSERT_EQ(step.kind, Kind::claim);
  EXPECT_TRUE(step.claim->waits);
  EXPECT_NE(step.claim->id, held->id());
  EXPECT_EQ(release
                .on(Result<store::ClaimOutcome>(
                    store::Busy{.holders = {}, .frees_in = 1h, .pending = true}))
                .kind,
            Kind::release);
  EXPECT_EQ(release.on(Result<store::ReleaseOutcome>(store::ReleaseOutcome::released)).kind,
            Kind::done);
  EXPECT_TRUE(next->is_woken());
  next->cancel();
  EXPECT_EQ(next->woken(), Kind::release) << "the store may grant it the name";
  EXPECT_EQ(next->released(), Kind::done);
}

TEST_F(AcquireStepsTest, TheClaimOfTheNextWaiterLeavesTimeForTheRelease) {
  LockProvider provider(std::make_shared<QueueStore>(store_), {.clock = &clock_});
  const std::optional<Lock> held = last_of_a_row(provider);
  ASSERT_TRUE(held);
  const auto next = first_in_queue(provider);
  ReleaseSteps release(*held->hold(), AcquireSteps::kGrace);
  const Step claim = release.start();
  const base::TimePoint now = base::steady_clock().now();
  ASSERT_EQ(claim.kind, Kind::claim);
  const Step then =
      release.on(Result<store::ClaimOutcome>(base::fail(ErrorCode::unavailable, "on purpose")));
  EXPECT_EQ(then.kind, Kind::release);
  EXPECT_LE((claim.deadline.when() - now) * 2, then.deadline.when() - now);
  EXPECT_EQ(release.on(Result<store::ReleaseOutcome>(store::ReleaseOutcome::released)).kind,
            Kind::done);
  next->cancel();
  EXPECT_EQ(next->woken(), Kind::release);
  EXPECT_EQ(next->released(), Kind::done);
}

TEST_F(AcquireStepsTest, IfTheClaimOfTheNextWaiterThrowsTheNameIsReleased) {
  LockProvider provider(std::make_shared<QueueStore>(store_), {.clock = &clock_});
  const std::optional<Lock> held = last_of_a_row(provider);
  ASSERT_TRUE(held);
  const auto next = first_in_queue(provider);
  {
    ReleaseSteps release(*held->hold());
    ASSERT_EQ(release.start().kind, Kind::claim);
    EXPECT_EQ(release.on_exception().kind, Kind::release);
    EXPECT_EQ(release.on_exception().kind, Kind::done) << "the release throws too";
  }
  EXPECT_TRUE(next->is_woken());
  next->cancel();
  EXPECT_EQ(next->woken(), Kind::release);
  EXPECT_EQ(next->released(), Kind::done);
}

TEST_F(AcquireStepsTest, AGrantThatCameTooLateIsReleasedAndItGoesOn) {
  Call call(provider_, {.ttl = 1s, .wait = 1h});
  EXPECT_EQ(call.start(), Kind::claim);
  clock_.advance(2s);
  const base::LeaseId late = call.id();
  EXPECT_EQ(call.granted(1s), Kind::release);
  EXPECT_EQ(call.step().id, late);
  EXPECT_EQ(call.released(), Kind::watch);
  EXPECT_EQ(call.subscribed(), Kind::claim);
  EXPECT_NE(call.id(), late) << "a release that comes late would remove this lease";
  EXPECT_EQ(call.granted(1s), Kind::done);
  EXPECT_TRUE(call.lock());
}

TEST_F(AcquireStepsTest, CancelledDuringItsFirstClaimItDoesNotJoinTheQueue) {
  Call call(provider_, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  call.cancel();
  EXPECT_EQ(call.busy(), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::cancelled);
  EXPECT_EQ(provider_.waiting(), 0U);
}

TEST_F(AcquireStepsTest, CancelledDuringALaterClaimItSendsNoOther) {
  Call call(provider_, kPatient, AcquireSteps::Joins::at_once);
  EXPECT_EQ(call.start(), Kind::claim);
  call.cancel();
  EXPECT_EQ(call.fails(ErrorCode::unknown_outcome), Kind::release);
  EXPECT_EQ(call.released(), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::cancelled);
}

TEST_F(AcquireStepsTest, CancelledWhileItSubscribesItSendsNoFurtherClaim) {
  Call call(provider_, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.busy(), Kind::watch);
  call.cancel();
  EXPECT_EQ(call.subscribed(), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::cancelled);
  EXPECT_EQ(provider_.waiting(), 0U);
}

TEST_F(AcquireStepsTest, WhereTheQueueIsFullItTriesOnceAndEnds) {
  LockProvider narrow(store_, {.clock = &clock_, .max_waiters_per_name = 1});
  Call first(narrow, kPatient);
  EXPECT_EQ(first.start(), Kind::claim);
  EXPECT_EQ(first.busy(), Kind::watch);
  Call second(narrow, kPatient);
  EXPECT_EQ(second.start(), Kind::claim) << "the name may be free";
  EXPECT_FALSE(second.step().claim->waits) << "it could not be notified of a grant";
  EXPECT_EQ(second.busy(), Kind::done);
  EXPECT_EQ(second.error(), ErrorCode::limit_exceeded);
  EXPECT_EQ(first.subscribed(), Kind::claim);
  EXPECT_EQ(first.granted(), Kind::done);
  EXPECT_TRUE(first.lock());
}

TEST_F(AcquireStepsTest, WhereTooManyNamesAreWaitedForItTriesOnceAndEnds) {
  LockProvider narrow(store_, {.clock = &clock_, .max_waited_names = 1});
  Call first(narrow, kPatient);
  EXPECT_EQ(first.start(), Kind::claim);
  EXPECT_TRUE(first.step().claim->waits);
  EXPECT_EQ(first.busy(), Kind::watch);
  Call second(narrow, kPatient, "other");
  EXPECT_EQ(second.start(), Kind::claim) << "the name may be free";
  EXPECT_FALSE(second.step().claim->waits) << "it could not be notified of a grant";
  EXPECT_EQ(second.busy(), Kind::done);
  EXPECT_EQ(second.error(), ErrorCode::limit_exceeded);
  EXPECT_EQ(first.subscribed(), Kind::claim);
  EXPECT_EQ(first.granted(), Kind::done);
}

TEST_F(AcquireStepsTest, WhenTheProviderEndsItIsCancelled) {
  auto provider = std::make_unique<LockProvider>(store_, ProviderOptions{.clock = &clock_});
  const auto core = provider->core();
  Call call(*provider, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.busy(), Kind::watch);
  EXPECT_EQ(call.subscribed(), Kind::claim);
  EXPECT_EQ(call.busy(), Kind::wait);
  provider.reset();
  EXPECT_TRUE(call.is_woken());
  EXPECT_EQ(call.woken(), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::cancelled);
}

TEST_F(AcquireStepsTest, AWaiterThatHoldsOthersBackIsReleasedByItsId) {
  Call call(provider_, {.ttl = 1h, .wait = 1h, .permits = {2, 2}, .holds_back = 5s});
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.busy(), Kind::watch);
  EXPECT_EQ(call.subscribed(), Kind::claim);
  EXPECT_EQ(call.busy(), Kind::wait);
  call.cancel();
  EXPECT_EQ(call.woken(), Kind::release);
  EXPECT_EQ(call.released(), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::cancelled);
}

// The rows of the state `claiming`.

TEST_F(AcquireStepsTest, AGrantToTheFirstInTheQueueIsKeptAndWakesTheNext) {
  const auto first = first_in_queue();
  Call second(provider_, kPatient);
  EXPECT_EQ(second.start(), Kind::wait);
  EXPECT_EQ(first->woken(), Kind::claim);
  EXPECT_EQ(first->granted(), Kind::done);
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(provider_.waiting(), 1U);
  give_up(second);
  EXPECT_TRUE(first->lock());
}

TEST_F(AcquireStepsTest, AFailureThatPassesIsWaitedOutInTheQueue) {
  const auto call = first_in_queue();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(call->woken(), Kind::claim);
    EXPECT_EQ(call->fails(ErrorCode::unavailable), Kind::wait);
  }
  give_up(*call);
}

TEST_F(AcquireStepsTest, AnotherFailureEndsItInTheQueueToo) {
  const auto call = first_in_queue();
  EXPECT_EQ(call->woken(), Kind::claim);
  EXPECT_EQ(call->fails(ErrorCode::corrupt), Kind::done);
  EXPECT_EQ(call->error(), ErrorCode::corrupt);
  EXPECT_EQ(provider_.waiting(), 0U);
}

TEST_F(AcquireStepsTest, AFailureOfTheLastClaimIsTheOutcome) {
  const auto call = first_in_queue();
  clock_.advance(1h);
  EXPECT_EQ(call->time_passes(), Kind::claim);
  EXPECT_EQ(call->fails(ErrorCode::unavailable), Kind::done);
  EXPECT_EQ(call->error(), ErrorCode::unavailable);
}

// The rows of the state `trying`, and what a failure that passes is.

TEST_F(AcquireStepsTest, AStoreThatWasNeverReachedIsAFailureAfterASecondClaim) {
  Call call(provider_, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.fails(ErrorCode::unavailable), Kind::watch);
  EXPECT_EQ(call.subscribed(), Kind::claim);
  EXPECT_EQ(call.fails(ErrorCode::unavailable), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::unavailable);
}

TEST_F(AcquireStepsTest, ALostReplyIsMetWithTheSameClaim) {
  Call call(provider_, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  const base::LeaseId id = call.id();
  EXPECT_EQ(call.fails(ErrorCode::unknown_outcome), Kind::watch);
  EXPECT_EQ(call.subscribed(), Kind::claim);
  EXPECT_EQ(call.id(), id);
  EXPECT_EQ(call.granted(), Kind::done);
  EXPECT_TRUE(call.lock());
}

TEST_F(AcquireStepsTest, ALostReplyToTheOnlyClaimIsReleasedByItsId) {
  Call call(provider_, {.ttl = 1h, .wait = 0s});
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.fails(ErrorCode::unknown_outcome), Kind::release);
  EXPECT_EQ(call.released(), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::unknown_outcome);
}

TEST_F(AcquireStepsTest, AnAnswerAfterALostReplySaysThatThereIsNothingToRelease) {
  const auto call = with_a_lost_reply();
  EXPECT_EQ(call->subscribed(), Kind::claim);
  EXPECT_EQ(call->busy(), Kind::wait);
  give_up(*call);
}

TEST_F(AcquireStepsTest, IfTheReplyIsLostAndNoAnswerFollowsItIsReleasedByItsId) {
  const auto call = with_a_lost_reply();
  EXPECT_EQ(call->subscribed(), Kind::claim);
  EXPECT_EQ(call->fails(ErrorCode::unavailable), Kind::wait);
  call->cancel();
  EXPECT_EQ(call->woken(), Kind::release);
  EXPECT_EQ(call->release_fails(), Kind::done) << "the provider goes on in the background";
  EXPECT_EQ(call->error(), ErrorCode::cancelled);
}

// The rows of the state `subscribing`.

TEST_F(AcquireStepsTest, TheNameIsWatchedOnceHoweverOftenItIsBusy) {
  const auto call = first_in_queue();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(call->woken(), Kind::claim);
    EXPECT_EQ(call->busy(), Kind::wait);
  }
  give_up(*call);
}

TEST_F(AcquireStepsTest, AHandOverWhileItSubscribesIsKept) {
  Lock held = provider_.acquire("job", kPatient);
  Call call(provider_, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  EXPECT_EQ(call.busy(), Kind::watch);
  EXPECT_TRUE(held.release());
  EXPECT_EQ(call.subscribed(), Kind::done);
  EXPECT_TRUE(call.lock());
}

// The rows of the state `waiting`.

TEST_F(AcquireStepsTest, AGrantedClaimIsConfirmedByAClaimWhateverHasWokenIt) {
  Call call(provider_, kPatient);
  EXPECT_EQ(call.start(), Kind::claim);
  const base::LeaseId id = call.id();
  EXPECT_EQ(call.busy(), Kind::watch);
  store::WatchCallback notify;
  provider_.core()->queues.watch("job", [&](store::WatchCallback callback) {
    notify = std::move(callback);
    return store::Watch();
  });
  EXPECT_EQ(call.subscribed(), Kind::claim);
  EXPECT_EQ(call.busy(true), Kind::wait);
  notify({.granted = id});
  EXPECT_EQ(call.time_passes(), Kind::claim);
  EXPECT_EQ(call.busy(true), Kind::wait) << "a grant is confirmed once";
  notify({.granted = id});
  EXPECT_EQ(call.woken(), Kind::claim);
  EXPECT_EQ(call.granted(), Kind::done);
  EXPECT_TRUE(call.lock());
}

TEST_F(AcquireStepsTest, AWakeUpBehindOthersIsNoTurn) {
  const auto first = first_in_queue();
  Call second(provider_, kPatient);
  EXPECT_EQ(second.start(), Kind::wait);
  EXPECT_EQ(second.woken(), Kind::wait);
  give_up(second);
  give_up(*first);
}

TEST_F(AcquireStepsTest, BehindOthersTooItClaimsForTheLastTime) {
  const auto first = first_in_queue();
  Call second(provider_, {.ttl = 1h, .wait = 1s});
  EXPECT_EQ(second.start(), Kind::wait);
  clock_.advance(1s);
  EXPECT_EQ(second.time_passes(), Kind::claim);
  EXPECT_FALSE(second.step().claim->waits);
  EXPECT_EQ(second.busy(), Kind::done);
  EXPECT_FALSE(second.lock());
  give_up(*first);
}

TEST_F(AcquireStepsTest, WithoutTimeForTheLastClaimItTimesOut) {
  const auto call = first_in_queue();
  clock_.advance(1h + AcquireSteps::kGrace);
  EXPECT_EQ(call->time_passes(), Kind::done);
  EXPECT_FALSE(call->lock());
  EXPECT_EQ(provider_.waiting(), 0U);
}

// The rows of the states `settling`, `releasing_lease` and `releasing_id`.

TEST_F(AcquireStepsTest, AGrantAtTheEndOfItsWaitIsKept) {
  const auto call = first_in_queue();
  clock_.advance(1h);
  EXPECT_EQ(call->time_passes(), Kind::claim);
  EXPECT_EQ(call->granted(), Kind::done);
  EXPECT_TRUE(call->lock());
}

TEST_F(AcquireStepsTest, AStoreThatIsAlwaysTooLateIsAFailure) {
  Call call(provider_, {.ttl = 1s, .wait = 1h});
  EXPECT_EQ(call.start(), Kind::claim);
  clock_.advance(2s);
  EXPECT_EQ(call.granted(1s), Kind::release);
  EXPECT_EQ(call.released(), Kind::watch);
  EXPECT_EQ(call.subscribed(), Kind::claim);
  clock_.advance(2s);
  EXPECT_EQ(call.granted(1s), Kind::release);
  EXPECT_EQ(call.released(), Kind::done);
  EXPECT_EQ(call.error(), ErrorCode::unavailable);
}

TEST_F(AcquireStepsTest, AnIdThatWasReleasedWakesTheNextWaiter) {
  const auto first = first_in_queue();
  EXPECT_EQ(first->woken(), Kind::claim);
  EXPECT_EQ(first->busy(true), Kind::wait);
  first->cancel();
  EXPECT_EQ(first->woken(), Kind::release);
  Call second(provider_, kPatient, AcquireSteps::Joins::at_once);
  EXPECT_EQ(second.start(), Kind::claim);
  EXPECT_FALSE(second.is_woken());
  EXPECT_EQ(first->released(), Kind::done);
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(second.granted(), Kind::done);
  EXPECT_TRUE(second.lock());
}

// The row of any state.

TEST_F(AcquireStepsTest, IfTheStoreThrowsInTheQueueItLeavesAndReleasesItsId) {
  const auto call = first_in_queue();
  EXPECT_EQ(call->woken(), Kind::claim);
  EXPECT_EQ(call->store_throws(), Kind::release);
  EXPECT_EQ(provider_.waiting(), 0U);
  EXPECT_EQ(call->store_throws(), Kind::done) << "also while it releases";
}

TEST_F(AcquireStepsTest, IfTheStoreThrowsWhileALeaseIsReleasedItReleasesTheId) {
  Call call(provider_, {.ttl = 1s, .wait = 1h});
  EXPECT_EQ(call.start(), Kind::claim);
  clock_.advance(2s);
  EXPECT_EQ(call.granted(1s), Kind::release);
  EXPECT_EQ(call.store_throws(), Kind::release);
  EXPECT_EQ(call.released(), Kind::done);
}

TEST_F(AcquireStepsTest, AnExceptionThatADriverTurnsIntoAnErrorIsReleasedByItsId) {
  const auto call = first_in_queue();
  EXPECT_EQ(call->woken(), Kind::claim);
  EXPECT_EQ(call->fails(ErrorCode::internal), Kind::release);
  EXPECT_EQ(call->released(), Kind::done);
  EXPECT_EQ(call->error(), ErrorCode::internal);
}

// Showing that it waits.

class AnnouncingTest : public AcquireStepsTest {
 protected:
  // Returns a call behind another that has shown that it waits.
  Call* shown_behind() { return shown_behind(kPatient); }
  Call* shown_behind(const AcquireOptions& how) {
    Call* const call = keep(std::make_unique<Call>(showing_, how));
    EXPECT_EQ(call->start(), Kind::wait);
    EXPECT_EQ(call->step().until, clock_.now() + 1s);
    clock_.advance(1s);
    EXPECT_EQ(call->time_passes(), Kind::claim);
    EXPECT_EQ(call->step().name, "holdfast.waiting/job");
    EXPECT_EQ(call->granted(), Kind::wait);
    return call;
  }

  // A call in the queue outlives its provider, which wakes it at its end.
  Call* keep(std::unique_ptr<Call> call) { return calls_.emplace_back(std::move(call)).get(); }

  std::vector<std::unique_ptr<Call>> calls_;
  LockProvider showing_{store_, {.clock = &clock_, .warn_after = 1h}};
  Call* const first_ = keep(first_in_queue(showing_));
};

TEST_F(AnnouncingTest, AfterASecondAWaiterShowsThatItWaitsAndDoesSoAgainEveryFifteenSeconds) {
  const auto call = shown_behind();
  EXPECT_EQ(call->step().until, clock_.now() + 15s);
  clock_.advance(15s);
  EXPECT_EQ(call->time_passes(), Kind::claim);
  EXPECT_EQ(call->step().name, "holdfast.waiting/job");
  EXPECT_EQ(call->step().claim->permits, store::Permits::reader());
  EXPECT_EQ(call->busy(), Kind::wait) << "it does not matter whether the store grants that";
}

TEST_F(AnnouncingTest, AWaiterThatHoldsOtherLeasesDoesSoTwiceASecond) {
  const auto call = shown_behind({.ttl = 1h, .wait = 1h, .holding = {base::LeaseId(1, 2)}});
  EXPECT_EQ(call->step().until, clock_.now() + 500ms);
}

TEST_F(AnnouncingTest, TheFirstPollsAsBefore) {
  clock_.advance(1s);
  EXPECT_EQ(first_->time_passes(), Kind::claim);
  EXPECT_EQ(first_->step().name, "job");
  EXPECT_EQ(first_->busy(), Kind::claim);
  EXPECT_EQ(first_->step().name, "holdfast.waiting/job");
  EXPECT_EQ(first_->granted(), Kind::wait);
  clock_.set(first_->step().until);
  EXPECT_EQ(first_->time_passes(), Kind::claim);
  EXPECT_EQ(first_->step().name, "job");
}

TEST_F(AnnouncingTest, BeforeItReturnsItReleasesWhatShowsIt) {
  const auto call = shown_behind();
  const base::LeaseId id = call->step().id;
  call->cancel();
  EXPECT_EQ(call->woken(), Kind::release);
  EXPECT_EQ(call->step().name, "holdfast.waiting/job");
  EXPECT_NE(call->step().id, id);
  EXPECT_EQ(call->released(), Kind::done);
  EXPECT_EQ(call->error(), ErrorCode::cancelled);
}

TEST_F(AnnouncingTest, AlsoWithALock) {
  const auto call = shown_behind();
  give_up(*first_);
  EXPECT_EQ(call->woken(), Kind::claim);
  EXPECT_EQ(call->granted(), Kind::release);
  EXPECT_EQ(call->step().name, "holdfast.waiting/job");
  EXPECT_EQ(call->released(), Kind::done);
  EXPECT_TRUE(call->lock());
}

TEST_F(AnnouncingTest, AReleaseThatFailsOrThrowsDoesNotCostTheLock) {
  auto call = shown_behind();
  give_up(*first_);
  EXPECT_EQ(call->woken(), Kind::claim);
  EXPECT_EQ(call->granted(), Kind::release);
  EXPECT_EQ(call->release_fails(), Kind::done);
  EXPECT_TRUE(call->lock());
}

TEST_F(AnnouncingTest, AStoreThatThrowsMeanwhileEndsTheWaitOnce) {
  const auto call = shown_behind();
  clock_.advance(15s);
  EXPECT_EQ(call->time_passes(), Kind::claim);
  EXPECT_EQ(call->store_throws(), Kind::release);
  EXPECT_EQ(call->step().name, "job");
  EXPECT_EQ(call->released(), Kind::done);
}

TEST_F(AnnouncingTest, WhatHappensMeanwhileIsNotForgotten) {
  const auto call = shown_behind();
  clock_.advance(15s);
  EXPECT_EQ(call->time_passes(), Kind::claim);
  call->cancel();
  EXPECT_EQ(call->granted(), Kind::release);
  EXPECT_EQ(call->released(), Kind::done);
  EXPECT_EQ(call->error(), ErrorCode::cancelled);
}

TEST_F(AnnouncingTest, AWaitThatEndsSoonIsNotShown) {
  Call call(showing_, {.ttl = 1h, .wait = 1200ms});
  EXPECT_EQ(call.start(), Kind::wait);
  clock_.advance(1s);
  EXPECT_EQ(call.time_passes(), Kind::wait);
  clock_.advance(200ms);
  EXPECT_EQ(call.time_passes(), Kind::claim);
  EXPECT_EQ(call.step().name, "job");
  EXPECT_EQ(call.busy(), Kind::done);
}

TEST_F(AnnouncingTest, ReservedNamesCannotBeAcquired) {
  const auto lock = showing_.try_acquire("holdfast.waiting/job");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::locks::steps
