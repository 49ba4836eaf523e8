// Two stores over one storage, each with a Redis bus of its own, as in two processes.
#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include <gtest/gtest.h>
#include <tests/support/patience.h>
#include <tests/support/redis_server.h>

#include <holdfast/locks/lock_provider.h>
#include <holdfast/store/key_value_store.h>

#include "map_values.h"
#include "redis_bus.h"

namespace own_engine {
namespace {

using namespace std::chrono_literals;
using holdfast::locks::LockProvider;
using holdfast::tests::eventually;

class RedisBusTest : public ::testing::Test {
 protected:
  std::shared_ptr<RedisBus> bus() const {
    return std::make_shared<RedisBus>("127.0.0.1", server_.port(), "hints");
  }
  // Publishes until the other end has heard it: the first message may come before the subscription.
  static bool hears(RedisBus& from, RedisBus& to) {
    std::atomic<bool> is_heard = false;
    const auto watch = to.subscribe("a\nname", [&] { is_heard = true; });
    return watch && eventually([&] {
             from.publish("a\nname");
             return is_heard.load();
           });
  }

  holdfast::tests::RedisServer server_;
};

TEST_F(RedisBusTest, AMessageReachesEverySubscriberOfItsName) {
  const auto here = bus();
  const auto there = bus();
  EXPECT_TRUE(hears(*here, *there));
  EXPECT_TRUE(hears(*there, *here));
}

TEST_F(RedisBusTest, ABusConnectsAgainAfterTheServerWasRestarted) {
  const auto here = bus();
  const auto there = bus();
  ASSERT_TRUE(hears(*here, *there));
  server_.restart();
  EXPECT_TRUE(hears(*here, *there));
}

TEST_F(RedisBusTest, AReleaseWakesAWaiterThatWouldNotPollForAnHour) {
  const auto values = std::make_shared<MapValues>(holdfast::base::steady_clock());
  const auto here = bus();
  const auto there = bus();
  ASSERT_TRUE(hears(*here, *there));
  LockProvider holder(holdfast::store::make_key_value_store(values, here));
  LockProvider waiter(holdfast::store::make_key_value_store(values, there),
                      {.poll_least = 1h, .poll_most = 1h});
  auto lock = holder.acquire("job", {.ttl = 24h});
  auto waiting =
      std::async(std::launch::async, [&] { return waiter.acquire("job", {.wait = 24h}).token(); });
  ASSERT_TRUE(eventually([&] { return waiter.waiting() == 1; }));
  const auto token = lock.token();
  lock.release();
  EXPECT_GT(waiting.get(), token);
}

}  // namespace
}  // namespace own_engine
