// A call ends within its wait and a grace, whatever the store does.

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/locks/steps/acquire_steps.h>
#include <holdfast/testing/faulty_store.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::Duration;
using base::ErrorCode;
using base::Name;
using base::Result;
using base::TimePoint;

// A clock on which time passes only while somebody sleeps or waits for the store.
class IdleClock final : public base::Clock {
 public:
  [[nodiscard]] TimePoint now() const noexcept override { return TimePoint(Duration(now_.load())); }
  [[nodiscard]] TimePoint coarse_now() const noexcept override { return now(); }
  [[nodiscard]] Duration coarse_lag() const noexcept override { return Duration::zero(); }
  bool sleep_until(TimePoint when, std::stop_token) const override {
    pass(when - now());
    return true;
  }
  void pass(Duration time) const { now_ += std::max(time, Duration::zero()).count(); }

 private:
  mutable std::atomic<Duration::rep> now_ = 0;
};

// The longest time that an engine's watch, which has no deadline, may take.
constexpr Duration kLongestWatch = 500ms;

// A store whose server says that the name is busy, and stops answering after some requests, the
// watch among them: every request then takes all the time it has.
class StoppingStore final : public store::LeaseStore {
 public:
  StoppingStore(const IdleClock& clock, int answers) : clock_(clock), answers_(answers) {}

  [[nodiscard]] store::Capabilities capabilities() const override {
    return {.engine = "stopping", .push = true};
  }
  void resume() { answers_ = 1'000'000; }
  [[nodiscard]] base::LeaseId claimed() const {
    const std::lock_guard guard(mutex_);
    return claimed_;
  }
  [[nodiscard]] bool has_released(const base::LeaseId& id) const {
    const std::lock_guard guard(mutex_);
    return std::ranges::find(released_, id) != released_.end();
  }

 private:
  template <class T>
  Result<T> answer(Deadline deadline, T outcome) {
    if (answers_-- > 0) {
      return outcome;
    }
    // A release in the background takes none of the caller's time.
    if (std::this_thread::get_id() == caller_) {
      clock_.pass(deadline.remaining(base::steady_clock().now()));
    }
    return base::fail(ErrorCode::unknown_outcome, "the server does not answer");
  }

  Result<store::ClaimOutcome> do_claim(const Name&, const store::Claim& claim,
                                       Deadline deadline) override {
    {
      const std::lock_guard guard(mutex_);
      claimed_ = claim.id;
    }
    return answer<store::ClaimOutcome>(
        deadline, store::Busy{.holders = {}, .frees_in = 1h, .pending = claim.waits});
  }
  Result<store::ReleaseOutcome> do_release(const Name&, const base::LeaseId& id,
                                           Deadline deadline) override {
    auto outcome = answer(deadline, store::ReleaseOutcome::not_held);
    if (outcome) {
      const std::lock_guard guard(mutex_);
      released_.push_back(id);
    }
    return outcome;
  }
  // Takes as long as that of any engine may.
  Result<store::Watch> do_watch(const Name&, store::WatchCallback) override {
    if (answers_-- > 0) {
      return store::Watch([] {});
    }
    clock_.pass(kLongestWatch);
    return base::fail(ErrorCode::unavailable, "the server does not answer");
  }

  static std::unexpected<base::Error> unused() {
    return base::fail(ErrorCode::unsupported, "not used here");
  }
  Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal>,
                                                    Deadline) override {
    return unused();
  }
  Result<store::TransferOutcome> do_transfer(const Name&, const base::LeaseId&, const store::Claim&,
                                             Deadline) override {
    return unused();
  }
  Result<std::optional<store::NameState>> do_look(const Name&, Deadline) override {
    return unused();
  }
  Result<store::Page> do_list(std::string_view, const store::PageRequest&, Deadline) override {
    return unused();
  }
  Result<store::HitOutcome> do_hit(const Name&, const store::Hit&, Deadline) override {
    return unused();
  }

  const IdleClock& clock_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<int> answers_;
  mutable std::mutex mutex_;
  base::LeaseId claimed_;
  std::vector<base::LeaseId> released_;
};

TEST(Budget, ACallEndsWithinItsWaitAndTheGraceWhereverTheServerStops) {
  for (const Duration wait : {Duration(0ms), Duration(50ms), Duration(3s), Duration(8s)}) {
    for (int answers = 0; answers < 6; ++answers) {
      const IdleClock clock;
      const auto store = std::make_shared<StoppingStore>(clock, answers);
      LockProvider provider(store, {.clock = &clock});
      const auto lock = provider.try_acquire("job", {.ttl = 30s, .wait = wait});
      const Duration took = clock.now() - TimePoint();
      EXPECT_FALSE(lock && *lock);
      EXPECT_LE(took, wait + steps::AcquireSteps::kGrace) << wait / 1ms << " ms, " << answers;
      EXPECT_GE(took, wait) << wait / 1ms << " ms, " << answers;
    }
  }
}

TEST(Budget, WhatACallCannotReleaseInItsTimeIsReleasedInTheBackground) {
  const IdleClock clock;
  const auto store = std::make_shared<StoppingStore>(clock, 0);
  LockProvider provider(store, {.clock = &clock});
  EXPECT_FALSE(provider.try_acquire("job", {.wait = 50ms}));
  EXPECT_FALSE(store->has_released(store->claimed()));
  store->resume();
  EXPECT_TRUE(tests::eventually([&] { return store->has_released(store->claimed()); }));
}

// A hand-over may take as long as the whole grace: begun after the wait, it would end too late.
TEST(Budget, AReleaseIsNotHandedOverToAWaiterThatMakesItsLastClaim) {
  base::ManualClock clock;
  const auto store =
      std::make_shared<testing::FaultyStore>(std::make_shared<engines::memory::MemoryStore>(
          engines::memory::MemoryOptions{.clock = &clock, .sweep_every = Duration::zero()}));
  LockProvider provider(store, {.clock = &clock});
  Lock lock = provider.acquire("job", {.ttl = 1h});
  std::thread waiter([&] {
    const auto second = provider.try_acquire("job", {.ttl = 1h, .wait = 1s});
    static_cast<void>(second);
  });
  // The first claim, and the one that it makes once it is in the queue.
  EXPECT_TRUE(tests::eventually([&] { return store->calls(testing::Operation::claim) == 3; }));
  const auto last_claim = store->hold_request(testing::Operation::claim);
  clock.wait_for_sleepers(3);
  clock.advance(1s);
  last_claim->wait_until_reached();
  EXPECT_TRUE(lock.release());
  EXPECT_EQ(store->calls(testing::Operation::transfer), 0U);
  last_claim->open();
  waiter.join();
}

}  // namespace
}  // namespace holdfast::locks
