// Who waits for a name hears of its release itself.

#include <atomic>
#include <functional>
#include <future>
#include <stop_token>
#include <thread>

#include <tests/redis/redis_test.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/locks/steps/run_blocking.h>
#include <holdfast/store/listener.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using locks::steps::Bell;
using locks::steps::wait;
using store::Claim;
using store::Grant;

class Listening : public RedisTest {
 protected:
  Claim hold(std::string_view name) {
    const Claim claim = wish();
    expect<Grant>(store_->claim(name, claim));
    return claim;
  }
  // At this moment, or the subscriber's thread is at work. Keeps others from it for a moment.
  bool somebody_listens() {
    const bool is_free = waiters_->listener()->begin();
    if (is_free) {
      waiters_->listener()->end();
    }
    return !is_free;
  }
  auto acquire(std::string_view name, const std::stop_token& stop = {}) {
    return std::async(std::launch::async, [this, name, stop] {
      return provider_.try_acquire(name, {.wait = kPatience, .stop = stop});
    });
  }

  // Its thread does not wake to see to the connection.
  const std::shared_ptr<engines::redis::RedisStore> waiters_ =
      base::value_or_throw(engines::redis::RedisStore::open(
          {.host = "127.0.0.1", .port = server_.port(), .reply_timeout = 1h}));
  // Nobody asks again without a hint.
  locks::LockProvider provider_{waiters_, {.poll_least = 10min, .poll_most = 10min}};
};

TEST_F(Listening, AWaiterIsToldInItsOwnThread) {
  const auto is_told_here = [&] {
    const Claim holder = hold("job");
    Bell bell;
    std::thread::id told_in;
    const store::Watch watch = base::value_or_throw(waiters_->watch("job", [&](const auto&) {
      told_in = std::this_thread::get_id();
      bell.ring();
    }));
    const std::jthread releaser([&] {
      EXPECT_TRUE(eventually([&] { return somebody_listens(); }));
      release("job", holder.id);
    });
    while (!wait(*waiters_, base::boot_clock(), base::boot_clock().now() + 50ms, bell).rung) {
    }
    return told_in == std::this_thread::get_id();
  };
  // Not each time: the subscriber's thread may be there first.
  EXPECT_TRUE(eventually(is_told_here));
}

TEST_F(Listening, NobodyListensByAClockThatStandsStill) {
  hold("job");
  const store::Watch watch = base::value_or_throw(waiters_->watch("job", [](const auto&) {}));
  base::ManualClock clock;
  Bell bell;
  bool rung = true;
  {
    const std::jthread waiter([&] { rung = wait(*waiters_, clock, clock.now() + 1s, bell).rung; });
    clock.wait_for_sleepers(1);
    clock.advance(1s);
  }
  EXPECT_FALSE(rung);
}

TEST_F(Listening, AWaiterKeepsItsTime) {
  hold("job");
  const store::Watch watch = base::value_or_throw(waiters_->watch("job", [](const auto&) {}));
  Bell bell;
  const base::Clock& clock = base::boot_clock();
  const base::TimePoint until = clock.now() + 300ms;
  EXPECT_FALSE(wait(*waiters_, clock, until, bell).rung);
  EXPECT_GE(clock.now(), until);
}

TEST_F(Listening, ThoseWhoDoNotListenAreToldAllTheSame) {
  const Claim one = hold("one");
  const Claim two = hold("two");
  const Claim three = hold("three");
  auto first = acquire("one");
  auto second = acquire("two");
  auto third = acquire("three");
  ASSERT_TRUE(eventually([&] { return provider_.waiting() == 3; }));
  release("three", three.id);
  EXPECT_TRUE(base::value_or_throw(third.get()));
  release("one", one.id);
  EXPECT_TRUE(base::value_or_throw(first.get()));
  release("two", two.id);
  EXPECT_TRUE(base::value_or_throw(second.get()));
  EXPECT_TRUE(eventually([&] { return !somebody_listens(); }));
}

TEST_F(Listening, AHintForNobodyIsPassedOnWhoeverHearsIt) {
  const Claim holder = hold("job");
  const auto watch_and_claim = [&](store::LeaseStore& store, store::WatchCallback callback) {
    auto watch = base::value_or_throw(store.watch("job", std::move(callback)));
    expect<store::Busy>(store.claim("job", wish()));
    return watch;
  };
  watch_and_claim(*waiters_, [](const auto&) {}).reset();
  std::atomic<int> calls = 0;
  const auto other = open_store(server_.port());
  const store::Watch watch = watch_and_claim(*other, [&](const auto&) { ++calls; });
  store::Listener& listener = *waiters_->listener();
  ASSERT_TRUE(eventually([&] { return listener.begin(); }));
  release("job", holder.id);
  EXPECT_TRUE(eventually([&] {
    return !listener.hear(base::Deadline::after(base::steady_clock(), 1ms)) || calls == 1;
  }));
  listener.end();
  EXPECT_EQ(calls, 1);
}

TEST_F(Listening, AWaiterIsToldThoughItsConnectionWasKilled) {
  const Claim holder = hold("job");
  auto waiting = acquire("job");
  ASSERT_TRUE(eventually([&] { return provider_.waiting() == 1; }));
  for (int i = 0; i < 3; ++i) {
    run({"CLIENT", "KILL", "TYPE", "pubsub"});
    ASSERT_TRUE(eventually([&] { return run({"PUBSUB", "CHANNELS", "hf:*"}) != "[]"; }));
  }
  release("job", holder.id);
  EXPECT_TRUE(base::value_or_throw(waiting.get()));
}

TEST_F(Listening, AWaiterIsCancelled) {
  hold("job");
  std::stop_source stop;
  auto waiting = acquire("job", stop.get_token());
  ASSERT_TRUE(eventually([&] { return provider_.waiting() == 1; }));
  stop.request_stop();
  const auto outcome = waiting.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, base::ErrorCode::cancelled);
  EXPECT_TRUE(eventually([&] { return !somebody_listens(); }));
}

}  // namespace
}  // namespace holdfast::tests
