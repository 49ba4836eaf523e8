// The users that docs/engines/redis.md recommends, on a server with several tenants.

#include <future>
#include <string>

#include <tests/redis/redis_test.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using store::Claim;
using store::Grant;

class Access : public RedisTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({"ACL", "SETUSER", "holdfast", "on", ">secret", "resetchannels", "&hf:wake:*",
                   "resetkeys", "~*", "-@all", "+@connection", "+@string", "+@hash", "+@sortedset",
                   "+@scripting", "+@keyspace", "+@pubsub", "+time", "+info"}),
              "OK");
    ASSERT_EQ(run({"ACL", "SETUSER", "tenant", "on", ">other", "resetchannels", "&tenant:*",
                   "~tenant:*", "+@all", "-@dangerous"}),
              "OK");
  }

  std::unique_ptr<store::LeaseStore> open_as_holdfast() {
    return base::value_or_throw(engines::redis::open_store(
        {.host = "127.0.0.1", .port = server_.port(), .user = "holdfast", .password = "secret"}));
  }
};

TEST_F(Access, TheUserOfHoldfastClaimsRenewsAndLists) {
  store_ = open_as_holdfast();
  const Claim mutex = wish();
  const Claim reader = wish(store::Permits::reader());
  expect<Grant>(store_->claim("job", mutex));
  expect<Grant>(store_->claim("doc", reader));
  EXPECT_EQ(renew("job", mutex.id), store::RenewOutcome::renewed);
  EXPECT_EQ(renew("doc", reader.id), store::RenewOutcome::renewed);
  EXPECT_EQ(base::value_or_throw(store_->list("")).names.size(), 2U);
  EXPECT_EQ(release("job", mutex.id), store::ReleaseOutcome::released);
  EXPECT_TRUE(store_->hit("hits", {.limit = 1, .period = 1min}));
}

TEST_F(Access, AWaiterOfTheUserOfHoldfastIsGrantedTheName) {
  locks::LockProvider holding(open_as_holdfast());
  locks::LockProvider waiting(open_as_holdfast(), {.poll_least = 1h, .poll_most = 1h});
  auto held = holding.acquire("job");
  auto waiter = std::async(std::launch::async, [&] { return waiting.acquire("job").token(); });
  // Its claim does: no poll comes for an hour.
  ASSERT_TRUE(eventually([&] { return run({"ZCARD", "hfq:{job}"}) == "1"; }));
  base::value_or_throw(held.release());
  EXPECT_GT(waiter.get().value(), 0U);
}

TEST_F(Access, ATenantCannotPublishToWaiters) {
  RedisClient tenant(server_.port());
  ASSERT_EQ(tenant.run({"AUTH", "tenant", "other"}), "OK");
  EXPECT_TRUE(
      tenant.run({"PUBLISH", "hf:wake:" + std::string(32, 'a'), "hint job"}).contains("NOPERM"));
  EXPECT_EQ(tenant.run({"PUBLISH", "tenant:news", "hello"}), "0");
}

}  // namespace
}  // namespace holdfast::tests
