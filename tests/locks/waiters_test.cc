// Which waiter wakes, when and how often: calls that are driven by hand over a store without hints.

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <utility>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/locks/or_timed_out.h>
#include <holdfast/locks/steps/acquire_steps.h>
#include <holdfast/locks/steps/run_blocking.h>
#include <holdfast/testing/faulty_store.h>

namespace holdfast::locks::steps {
namespace {

using namespace std::chrono_literals;

struct Flag final : Waker {
  void wake() noexcept override { is_woken.store(true); }
  std::atomic<bool> is_woken = false;
};

// One call of `acquire` that is driven by hand, without a thread.
class Call {
 public:
  Call(LockProvider& provider, const AcquireOptions& how)
      : provider_(provider), steps_(*provider.core(), "job", how, 0s, flag_) {}

  // Continues until it waits or is done. Returns how many steps that took.
  int start() {
    step_ = steps_.start();
    return ask();
  }
  int wake() {
    step_ = steps_.on(Woken{.by_waker = flag_.is_woken.exchange(false)});
    return 1 + ask();
  }
  [[nodiscard]] bool is_due(base::TimePoint now) const {
    return !is_done() && (flag_.is_woken.load() || step_.until <= now);
  }
  [[nodiscard]] bool is_woken() const { return !is_done() && flag_.is_woken.load(); }
  [[nodiscard]] bool is_done() const { return step_.kind == Step::Kind::done; }
  [[nodiscard]] Lock take() { return **std::move(steps_.outcome()); }

 private:
  int ask() {
    int count = 0;
    for (; step_.kind != Step::Kind::wait && step_.kind != Step::Kind::done; ++count) {
      if (step_.kind == Step::Kind::watch) {
        steps_.watch();
        step_ = steps_.on({});
      } else {
        step_ = steps_.on(steps::ask(provider_.store(), step_));
      }
    }
    return count;
  }

  LockProvider& provider_;
  Flag flag_;
  AcquireSteps steps_;
  Step step_;
};

class Waiters : public ::testing::Test {
 protected:
  Waiters() { store_->lose_hints(); }

  void begin(int count) {
    for (int i = 0; i < count; ++i) {
      calls_.emplace_back(provider_, how_).start();
    }
  }
  // Wakes every call that is due, until none is. Returns how many wake-ups that took.
  int wake_all() {
    int wakes = 0;
    for (bool is_any = true; is_any;) {
      is_any = false;
      for (Call& call : calls_) {
        if (call.is_due(clock_.now())) {
          call.wake();
          ++wakes;
          is_any = true;
        }
      }
    }
    return wakes;
  }
  void end_all() {
    clock_.advance(3h);
    wake_all();
  }
  [[nodiscard]] bool is_any_done() const {
    return std::ranges::any_of(calls_, [](const Call& call) { return call.is_done(); });
  }

  base::ManualClock clock_;
  const std::shared_ptr<testing::FaultyStore> store_ =
      std::make_shared<testing::FaultyStore>(std::make_shared<engines::memory::MemoryStore>(
          engines::memory::MemoryOptions{.clock = &clock_, .sweep_every = base::Duration::zero()}));
  LockProvider provider_{store_,
                         {.clock = &clock_,
                          .warn_after = 24h,
                          .announce_after = base::Duration::max(),
                          .max_waiters_per_name = 100'000}};
  const AcquireOptions how_{.ttl = 3h, .wait = 2h};
  std::deque<Call> calls_;
};

TEST_F(Waiters, OnlyTheFirstInLinePolls) {
  const Lock held = provider_.acquire("job", {.ttl = 3h});
  begin(1'000);
  int wakes = 0;
  for (base::Duration time = 0s; time < 10s; time += 50ms) {
    clock_.advance(50ms);
    wakes += wake_all();
  }
  EXPECT_GT(wakes, 0) << "a hint may get lost";
  EXPECT_LE(wakes, 10s / 400ms) << "the shortest pause is half of poll_most";
  end_all();
}

TEST_F(Waiters, AHandOverTakesTheSameStepsHoweverManyWait) {
  const auto steps_with = [this](int waiters) {
    calls_.clear();
    Lock held = provider_.acquire("job", {.ttl = 3h});
    begin(waiters);
    wake_all();
    int steps = 0;
    for (std::size_t i = 0; i < 50; ++i) {
      EXPECT_TRUE(held.release());
      // The next in line comes first here: looking for it would hide nothing, but take long.
      for (std::size_t at = i; at < i + 3; ++at) {
        while (calls_[at].is_woken()) {
          steps += calls_[at].wake();
        }
      }
      EXPECT_TRUE(calls_[i].is_done()) << i;
      held = calls_[i].take();
    }
    for (const Call& call : calls_) {
      EXPECT_FALSE(call.is_woken());
    }
    EXPECT_TRUE(held.release());
    end_all();
    return steps;
  };
  const int few = steps_with(100);
  EXPECT_EQ(steps_with(10'000), few);
}

// The waiters behind a hand-over are not woken; the end of that hold must reach the next one.
class EndOfAChain : public Waiters {
 protected:
  // The name was handed over to a call of this process; another waits behind it.
  Lock hand_over() {
    Lock first = provider_.acquire("job", {.ttl = 3h});
    begin(2);
    wake_all();
    EXPECT_TRUE(first.release());
    wake_all();
    EXPECT_TRUE(calls_[0].is_done());
    EXPECT_FALSE(calls_[1].is_done());
    return calls_[0].take();
  }
  void expect_contends() {
    EXPECT_TRUE(tests::eventually([this] { return calls_[1].is_woken(); }));
  }
};

TEST_F(EndOfAChain, ADetachedLockWakesTheNext) {
  Lock lock = hand_over();
  static_cast<void>(lock.detach());
  expect_contends();
  end_all();
}

TEST_F(EndOfAChain, ALockThatIsLostWakesTheNext) {
  const Lock lock = hand_over();
  EXPECT_TRUE(store_->release("job", lock.id()));
  EXPECT_FALSE(calls_[1].is_woken());
  clock_.wait_for_sleepers(2);
  clock_.advance(1h);  // the renewal is answered "lost"
  expect_contends();
  end_all();
}

TEST_F(EndOfAChain, AReleaseByIdWakesTheNext) {
  const Lock lock = hand_over();
  EXPECT_TRUE(provider_.release("job", lock.id()));
  expect_contends();
  end_all();
}

TEST_F(EndOfAChain, AReleaseWhoseReplyIsLostWakesTheNext) {
  Lock lock = hand_over();
  store_->lose_request(testing::Operation::transfer);
  store_->lose_reply(testing::Operation::release);
  EXPECT_FALSE(lock.release());
  wake_all();
  EXPECT_TRUE(calls_[1].is_done());
}

TEST_F(EndOfAChain, AReleaseThroughTheStoreWakesTheNext) {
  Lock lock = provider_.acquire("job", {.ttl = 3h});
  begin(20);
  wake_all();
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(lock.release());
    wake_all();
    ASSERT_TRUE(calls_[i].is_done()) << i << ": no time has passed for a poll";
    lock = calls_[i].take();
  }
}

}  // namespace
}  // namespace holdfast::locks::steps
