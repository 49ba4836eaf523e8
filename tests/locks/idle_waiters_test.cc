// Measures how often waiters ask the store while nothing happens, counted in claims over a stretch
// of simulated time.
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/locks/steps/acquire_steps.h>
#include <holdfast/locks/steps/run_blocking.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using engines::sqlite::SqliteOptions;
using engines::sqlite::SqliteStore;
using locks::steps::Step;

// A waiter with a store and a provider of its own, as in another process. The test drives it.
class IdleWaiter {
 public:
  IdleWaiter(const SqliteOptions& options, const base::Clock& clock)
      : store_(base::value_or_throw(engines::sqlite::open_store(options))),
        provider_(store_, {.clock = &clock}),
        steps_(*provider_.core(), "job", how_, 0s, waker_) {
    go_on(steps_.start());
  }

  // When it asks again by itself.
  [[nodiscard]] base::TimePoint until() const { return until_; }
  void on_time() { go_on(steps_.on(locks::steps::Woken{})); }
  [[nodiscard]] int claims() const { return claims_; }
  // Returns how often it has shown that it waits.
  [[nodiscard]] int shown() const { return shown_; }
  [[nodiscard]] bool has_acquired() { return is_done_ && steps_.outcome() && *steps_.outcome(); }
  void give_up() {
    steps_.cancel();
    go_on(steps_.on(locks::steps::Woken{true}));
  }

 private:
  struct Silent final : locks::steps::Waker {
    void wake() noexcept override {}
  };

  void go_on(Step step) {
    while (step.kind != Step::Kind::wait && step.kind != Step::Kind::done) {
      const bool is_claim = step.kind == Step::Kind::claim;
      claims_ += is_claim && step.name == "job" ? 1 : 0;
      shown_ += is_claim && step.name != "job" ? 1 : 0;
      if (step.kind == Step::Kind::watch) {
        steps_.watch();
        step = steps_.on({});
      } else {
        step = steps_.on(locks::steps::ask(*store_, step));
      }
    }
    is_done_ = step.kind == Step::Kind::done;
    until_ = is_done_ ? base::TimePoint::max() : step.until;
  }

  const locks::AcquireOptions how_{.wait = 24h};
  Silent waker_;
  std::shared_ptr<SqliteStore> store_;
  locks::LockProvider provider_;
  locks::steps::AcquireSteps steps_;
  base::TimePoint until_{};
  bool is_done_ = false;
  int claims_ = 0;
  int shown_ = 0;
};

class IdleWaiters : public ::testing::Test {
 protected:
  // Lets time pass; each waiter asks when it wants to.
  void pass(base::Duration time) {
    const base::TimePoint end = clock_.now() + time;
    for (;;) {
      const auto next = std::ranges::min_element(
          waiters_, {}, [](const auto& waiter) { return waiter->until(); });
      if (next == waiters_.end() || (*next)->until() > end) {
        break;
      }
      clock_.set(std::max(clock_.now(), (*next)->until()));
      (*next)->on_time();
    }
    clock_.set(end);
  }
  void add(int count) {
    for (int i = 0; i < count; ++i) {
      waiters_.push_back(std::make_unique<IdleWaiter>(options_, clock_));
    }
  }
  void give_up_all() {
    for (const auto& waiter : waiters_) {
      waiter->give_up();
    }
  }
  [[nodiscard]] int claims() const {
    int all = 0;
    for (const auto& waiter : waiters_) {
      all += waiter->claims();
    }
    return all;
  }
  void hold(base::Duration ttl) {
    ASSERT_TRUE(holder_->claim(
        "job", {.id = base::LeaseId::generate(), .owner = "holder", .reason = {}, .ttl = ttl}));
  }

  const TemporaryFolder folder_;
  base::ManualClock clock_;
  const SqliteOptions options_{.file = folder_ / "locks.db", .machine = {.clock = &clock_}};
  const std::shared_ptr<SqliteStore> holder_ =
      base::value_or_throw(engines::sqlite::open_store(options_));
  std::vector<std::unique_ptr<IdleWaiter>> waiters_;
};

TEST_F(IdleWaiters, BehindOthersAWaiterAsksRarely) {
  constexpr int kWaiters = 40;
  hold(24h);
  add(kWaiters);
  pass(60s);  // they have learnt their positions
  const int before = claims();
  const int before_last = waiters_.back()->claims();
  pass(60s);
  EXPECT_LE(claims() - before, 1'000) << "at the pace of the first, 3,000 to 6,000";
  EXPECT_LE(waiters_.back()->claims() - before_last, 9);
  EXPECT_LE(waiters_.back()->shown(), 9) << "every 15 s of the 120 s";
  give_up_all();
}

TEST_F(IdleWaiters, ADeadHoldersNameIsAcquiredAsSoonAsItsLeaseHasExpired) {
  hold(10s);
  add(30);
  pass(10s + 100ms);
  EXPECT_TRUE(waiters_.front()->has_acquired());
  give_up_all();
}

// The next one finds, a little later, the state that the first one would have found.
TEST_F(IdleWaiters, IfTheFirstWaiterIsSilentTheNextOneFindsTheDeadHolder) {
  hold(10s);
  add(3);
  const auto first = std::move(waiters_.front());
  waiters_.erase(waiters_.begin());
  pass(10s + 5s);  // the second one grants it to the first, which does not confirm
  EXPECT_TRUE(waiters_.front()->has_acquired());
  give_up_all();
  first->give_up();
}

}  // namespace
}  // namespace holdfast::tests
