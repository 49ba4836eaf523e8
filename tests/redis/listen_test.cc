// Waiters are notified through the subscriber connection of their store.

#include <atomic>
#include <future>
#include <stop_token>

#include <tests/redis/redis_test.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using store::Claim;
using store::Grant;

class Listening : public RedisTest {
 protected:
  Claim hold(std::string_view name) {
    const Claim claim = wish();
    expect<Grant>(store_->claim(name, claim));
    return claim;
  }
  auto acquire(std::string_view name, const std::stop_token& stop = {}) {
    return std::async(std::launch::async, [this, name, stop] {
      return provider_.try_acquire(name, {.wait = kPatience, .stop = stop});
    });
  }

  // Its thread does not wake to see to the connection.
  const std::shared_ptr<store::LeaseStore> waiters_ =
      base::value_or_throw(engines::redis::open_store(
          {.host = "127.0.0.1", .port = server_.port(), .reply_timeout = 1h}));
  // Nobody asks again without a hint.
  locks::LockProvider provider_{waiters_, {.poll_least = 10min, .poll_most = 10min}};
};

TEST_F(Listening, EveryWaiterIsNotifiedOfItsOwnName) {
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
}

TEST_F(Listening, AHintForNobodyIsPassedOnToTheNextStore) {
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
  release("job", holder.id);
  EXPECT_TRUE(eventually([&] { return calls == 1; }));
}

TEST_F(Listening, AWaiterIsGrantedTheNameAlthoughItsConnectionWasKilled) {
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
}

}  // namespace
}  // namespace holdfast::tests
