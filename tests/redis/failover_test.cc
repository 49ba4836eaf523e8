// Servers that change behind one address, and connections that die without a word.

#include <future>
#include <optional>

#include <tests/redis/redis_test.h>
#include <tests/support/cutting_proxy.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using locks::Lock;
using locks::LockProvider;
using store::Claim;
using store::Grant;
using store::RenewOutcome;

// A master and its replica behind an address that leads to one of them.
class Failover : public ::testing::Test {
 protected:
  void SetUp() override {
    RedisClient replica(replica_.port());
    ASSERT_EQ(replica.run({"REPLICAOF", "127.0.0.1", std::to_string(master_.port())}), "OK");
    ASSERT_TRUE(eventually(
        [&] { return replica.run({"INFO", "replication"}).contains("master_link_status:up"); }));
  }

  // The replica becomes the master, has all that the master had, and gets the address.
  void fail_over() {
    RedisClient master(master_.port());
    RedisClient replica(replica_.port());
    // WAIT waits for what this client has written, and so for all before it.
    ASSERT_EQ(master.run({"SET", "written last", "1"}), "OK");
    ASSERT_TRUE(eventually([&] { return master.run({"WAIT", "1", "1000"}) == "1"; }));
    ASSERT_EQ(replica.run({"REPLICAOF", "NO", "ONE"}), "OK");
    ASSERT_EQ(master.run({"REPLICAOF", "127.0.0.1", std::to_string(replica_.port())}), "OK");
    proxy_.redirect(replica_.port());
  }

  // Returns whether a store listens at the server that has become the master.
  bool has_listeners() {
    return RedisClient(replica_.port()).run({"PUBSUB", "CHANNELS", "hf:wake:*"}) != "[]";
  }

  RedisServer master_;
  RedisServer replica_;
  CuttingProxy proxy_{master_.port()};
};

TEST_F(Failover, EveryOperationGoesToTheNewMasterAtOnce) {
  const auto store = open_store(proxy_.port());
  const Claim held = wish();
  expect<Grant>(store->claim("job", held));
  fail_over();
  const store::Renewal renewal{.name = "job", .id = held.id, .ttl = 10min};
  EXPECT_EQ(base::value_or_throw(store->renew({&renewal, 1})).at(0), RenewOutcome::renewed);
  expect<Grant>(store->claim("other", wish()));
  EXPECT_EQ(base::value_or_throw(store->release("job", held.id)), store::ReleaseOutcome::released);
}

TEST_F(Failover, AClaimIsSentAgainToTheNewMaster) {
  const auto store = open_store(proxy_.port());
  expect<Grant>(store->claim("job", wish()));
  fail_over();
  expect<Grant>(store->claim("other", wish()));
}

TEST_F(Failover, WaitersListenAtTheNewMaster) {
  const auto store = open_store(proxy_.port());
  expect<Grant>(store->claim("job", wish()));
  const auto watch = base::value_or_throw(store->watch("job", [](const auto&...) {}));
  fail_over();
  EXPECT_FALSE(has_listeners());
  expect<Grant>(store->claim("other", wish()));
  EXPECT_TRUE(eventually([&] { return has_listeners(); }));
}

// The server lives, and a new connection works at once.
TEST(SilentConnection, AShortLeaseSurvivesOne) {
  RedisServer server;
  CuttingProxy proxy(server.port());
  LockProvider provider(open_store(proxy.port()));
  const Lock lock = provider.acquire("job", {.ttl = 6s});
  proxy.silence();
  RedisClient client(server.port());
  const auto ends_in = [&] { return std::stol(client.run({"PTTL", "job"})); };
  // Renewed by another connection, when less than half of its time was left.
  ASSERT_TRUE(eventually([&] { return ends_in() < 3500; }));
  EXPECT_TRUE(eventually([&] { return ends_in() > 3500 || ends_in() < 0; }));
  EXPECT_GT(ends_in(), 0);
  EXPECT_FALSE(lock.lost().stop_requested());
}

}  // namespace
}  // namespace holdfast::tests
