// A store that finds its master by real Sentinels: where it connects, with which logins, and what
// it says if it cannot.

#include <fstream>
#include <functional>
#include <future>
#include <string>

#include <tests/redis/redis_test.h>
#include <tests/support/fake_server.h>
#include <tests/support/free_port.h>
#include <tests/support/sentinel_set.h>

#include <holdfast/engines/redis/redis_url.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using engines::redis::RedisOptions;
using locks::LockProvider;
using store::Claim;
using store::Grant;
using store::RenewOutcome;

RedisOptions options_of(const std::string& url) {
  RedisOptions options = base::value_or_throw(engines::redis::parse_redis_url(url));
  options.connect_timeout = 30s;
  return options;
}

std::unique_ptr<store::LeaseStore> open(const std::string& url) {
  return base::value_or_throw(engines::redis::open_store(options_of(url)));
}

base::Error error_of_use(const std::string& url) {
  const auto seen = open(url)->look("job");
  EXPECT_FALSE(seen);
  return seen ? base::Error{} : seen.error();
}

std::string sentinel_at(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// One set for all tests of this suite: they leave it whole, with whatever master.
class Sentinel : public ::testing::Test {
 protected:
  static SentinelSet& set() {
    static SentinelSet kSet;
    return kSet;
  }
  void TearDown() override { set().wait_until_whole(); }

  static RenewOutcome renew(store::LeaseStore& store, std::string_view name, const Claim& claim) {
    const store::Renewal renewal{.name = name, .id = claim.id, .ttl = 10min};
    return base::value_or_throw(store.renew({&renewal, 1})).at(0);
  }
  // Returns once the replicas have all that the master has.
  static void replicate() {
    EXPECT_TRUE(eventually([] {
      RedisClient master(set().master_port());
      return master.run({"SET", "written last", "1"}) == "OK" &&
             master.run({"WAIT", "2", "1000"}) == "2";
    }));
  }
  static bool listens_at_the_master() {
    return set().ask(set().master_port(), {"PUBSUB", "CHANNELS", "hf:wake:*"}) != "[]";
  }
};

TEST_F(Sentinel, AStoreLocksAtTheMaster) {
  const auto store = open(set().url());
  const Claim claim = wish();
  expect<Grant>(store->claim("at the master", claim));
  EXPECT_EQ(set().ask(set().master_port(), {"GET", "at the master"}), to_string(claim.id));
  EXPECT_EQ(base::value_or_throw(store->release("at the master", claim.id)),
            store::ReleaseOutcome::released);
}

TEST_F(Sentinel, LeasesThatTheNewMasterKnowsGoOn) {
  const auto store = open(set().url());
  const Claim claim = wish();
  const Grant grant = expect<Grant>(store->claim("goes on", claim));
  replicate();
  const std::uint16_t before = set().master_port();
  set().fail_over();
  EXPECT_NE(set().master_port(), before);
  // A call that was under way when the connection ended is not known to have failed.
  ASSERT_TRUE(eventually([&] {
    const store::Renewal renewal{.name = "goes on", .id = claim.id, .ttl = 10min};
    const auto renewed = store->renew({&renewal, 1});
    return renewed && renewed->at(0) == RenewOutcome::renewed;
  }));
  EXPECT_EQ(set().ask(set().master_port(), {"GET", "goes on"}), to_string(claim.id));
  EXPECT_EQ(base::value_or_throw(store->release("goes on", claim.id)),
            store::ReleaseOutcome::released);
  EXPECT_GT(expect<Grant>(store->claim("goes on", wish())).token, grant.token);
}

TEST_F(Sentinel, AnIdleStoreUsesTheNewMasterOverBothConnections) {
  const auto store = open(set().url());
  const auto watch = base::value_or_throw(store->watch("watched", [](const auto&...) {}));
  ASSERT_TRUE(eventually([] { return listens_at_the_master(); }));
  set().fail_over();
  EXPECT_TRUE(eventually([] { return listens_at_the_master(); }));
  EXPECT_TRUE(store->look("watched"));
}

// Resumes a server that is suspended at the end, so that nothing waits for it, whatever was thrown.
struct Resumption {
  explicit Resumption(const RedisServer& suspended) : server(suspended) {}
  Resumption(const Resumption&) = delete;
  Resumption& operator=(const Resumption&) = delete;
  ~Resumption() { server.resume(); }
  const RedisServer& server;
};

// Nothing else would end its connections: the server is silent, and the store patient.
TEST_F(Sentinel, AStoppedMasterIsLeftWhenASentinelNamesAnother) {
  RedisOptions options = options_of(set().url());
  options.reply_timeout = 1h;
  const auto store = base::value_or_throw(engines::redis::open_store(options));
  const auto watch = base::value_or_throw(store->watch("watched", [](const auto&...) {}));
  ASSERT_TRUE(eventually([&] { return store->look("job") && listens_at_the_master(); }));
  const RedisServer& stopped = set().server_at(set().master_port());
  stopped.suspend();
  auto asked = std::async(std::launch::async, [&] { return store->look("job"); });
  const Resumption resumption(stopped);
  set().fail_over();
  const auto answer = asked.get();  // from the new master, if the request had not been sent yet
  EXPECT_TRUE(answer || answer.error().code == ErrorCode::unknown_outcome);
  EXPECT_TRUE(store->look("job"));
  EXPECT_TRUE(eventually([] { return listens_at_the_master(); }));
}

TEST_F(Sentinel, AWaiterGetsTheNameFromTheNewMaster) {
  LockProvider holder(open(set().url()));
  LockProvider waiter(open(set().url()));
  locks::Lock lock = holder.acquire("handed over", {.ttl = 10min});
  auto waiting = std::async(std::launch::async,
                            [&] { return waiter.acquire("handed over", {.ttl = 10min}).token(); });
  ASSERT_TRUE(eventually([&] { return waiter.waiting() == 1; }));
  replicate();
  set().fail_over();
  const base::FencingToken token = lock.token();
  EXPECT_FALSE(lock.lost().stop_requested());
  ASSERT_TRUE(eventually([&] { return lock.release().has_value(); }));
  EXPECT_GT(waiting.get(), token);
}

TEST_F(Sentinel, ASentinelThatIsSilentOrGoneIsPassedOver) {
  const ClosedPort closed;
  FakeServer silent([](FakeServer::Client& client) {
    while (!client.receive().empty()) {
    }
  });
  RedisOptions options = options_of(set().url());
  auto& nodes = options.sentinel->nodes;
  nodes.insert(nodes.begin(), {{.host = "127.0.0.1", .port = closed.number()},
                               {.host = "127.0.0.1", .port = silent.port()}});
  options.connect_timeout = 2s;
  const auto store = base::value_or_throw(engines::redis::open_store(options));
  // Whatever this machine is busy with: one that did not answer is asked last from then on.
  EXPECT_TRUE(eventually([&] { return store->look("job").has_value(); }));
  EXPECT_GE(silent.connections(), 1U);
}

TEST_F(Sentinel, IfNoSentinelAnswersTheErrorNamesThem) {
  const ClosedPort one;
  const ClosedPort two;
  const base::Error error = error_of_use("redis+sentinel://" + sentinel_at(one.number()) + "," +
                                         sentinel_at(two.number()) + "/locks");
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  for (const ClosedPort* const port : {&one, &two}) {
    EXPECT_TRUE(error.message.contains(sentinel_at(port->number()))) << error.message;
  }
  EXPECT_TRUE(error.message.contains("'locks'")) << error.message;
}

TEST_F(Sentinel, AnUnknownMasterIsAWrongArgumentAndTheErrorNamesTheSentinels) {
  RedisOptions options = options_of(set().url());
  options.sentinel->master_name = "lokcs";
  const auto store = base::value_or_throw(engines::redis::open_store(options));
  const auto seen = store->look("job");
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(seen.error().message.contains("no master is named 'lokcs'")) << seen.error().message;
  for (std::size_t i = 0; i < SentinelSet::kSentinels; ++i) {
    EXPECT_TRUE(seen.error().message.contains(sentinel_at(set().sentinel(i).port())))
        << seen.error().message;
  }
}

TEST_F(Sentinel, AServerInThePlaceOfASentinelIsRecognized) {
  const base::Error error =
      error_of_use("redis+sentinel://" + sentinel_at(set().master_port()) + "/locks");
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_TRUE(error.message.contains("it is no Sentinel")) << error.message;
}

// Answers as a Sentinel that names this port as the master.
std::function<void(FakeServer::Client&)> sentinel_that_names(std::uint16_t port) {
  return [port](FakeServer::Client& client) {
    const std::string number = std::to_string(port);
    const std::string bulk = "$" + std::to_string(number.size()) + "\r\n" + number + "\r\n";
    const std::string host = "$9\r\n127.0.0.1\r\n";
    for (std::string request; !(request = client.receive()).empty();) {
      if (request.contains("SETNAME")) {
        client.send("+OK\r\n");
      }
      if (request.contains("GET-MASTER-ADDR-BY-NAME")) {
        client.send("*2\r\n" + host + bulk + "*6\r\n$2\r\nip\r\n" + host + "$4\r\nport\r\n" + bulk +
                    "$12\r\nconfig-epoch\r\n$1\r\n0\r\n");
      }
    }
  };
}

// The Sentinel and the master share the time of the first caller.
TEST_F(Sentinel, ACallerWithLittleTimeFailsNoOther) {
  const auto answer = sentinel_that_names(set().master_port());
  FakeServer sentinel([&](FakeServer::Client& client) {
    if (client.number() > 0) {
      answer(client);
      return;
    }
    while (!client.receive().empty()) {
    }
  });
  const auto store = open("redis+sentinel://" + sentinel_at(sentinel.port()) + "/locks");
  auto hurried = std::async(std::launch::async, [&] {
    return store->look("job", base::Deadline::after(base::steady_clock(), 2s)).has_value();
  });
  EXPECT_TRUE(eventually([&] { return sentinel.connections() > 0; }));
  EXPECT_TRUE(store->look("job"));
  hurried.get();
}

TEST_F(Sentinel, AReplicaIsNotTakenForTheMaster) {
  const std::uint16_t master = set().master_port();
  const std::uint16_t replica =
      set().server(0).port() == master ? set().server(1).port() : set().server(0).port();
  FakeServer stale(sentinel_that_names(replica));
  const base::Error error =
      error_of_use("redis+sentinel://" + sentinel_at(stale.port()) + "/locks");
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_TRUE(error.message.contains("it is a replica")) << error.message;
  EXPECT_TRUE(error.message.contains(sentinel_at(replica))) << error.message;
}

// The stale one is asked first, and its server says of itself that it is a master.
TEST_F(Sentinel, OfSeveralAnswersTheNewestCounts) {
  set().fail_over();  // the epoch of the true answer is at least 1
  set().wait_until_whole();
  const RedisServer old_master;
  FakeServer stale(sentinel_that_names(old_master.port()));
  RedisOptions options = options_of(set().url());
  auto& nodes = options.sentinel->nodes;
  nodes.insert(nodes.begin(), {.host = "127.0.0.1", .port = stale.port()});
  const auto store = base::value_or_throw(engines::redis::open_store(options));
  const Claim claim = wish();
  expect<Grant>(store->claim("newest", claim));
  EXPECT_EQ(set().ask(set().master_port(), {"GET", "newest"}), to_string(claim.id));
  EXPECT_GE(stale.connections(), 1U);
  EXPECT_TRUE(store->release("newest", claim.id));
}

TEST(SentinelLogin, SentinelsAndServersHavePasswordsOfTheirOwn) {
  const SentinelSet set({.password = "for-servers", .sentinel_password = "for-sentinels"});
  expect<Grant>(open(set.url())->claim("job", wish()));
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string url = set.url();
    url.replace(url.find(from), from.size(), to);
    const base::Error error = error_of_use(url);
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_FALSE(error.message.contains("for-")) << error.message;
    return error.message;
  };
  EXPECT_TRUE(error_with("?sentinel_password=for-sentinels", "").contains("sentinel_password"));
  EXPECT_TRUE(error_with("=for-sentinels", "=wrong").contains("refuses the user or the password"));
  EXPECT_TRUE(error_with(":for-servers@", "").contains("it asks for a password"));
  EXPECT_TRUE(error_with(":for-servers@", ":wrong@").contains("refuses the user or the password"));
}

// Each server has a certificate of an authority of its own.
TEST(SentinelTls, SentinelsAndServersAreReachedOverTls) {
  const RedisServer master({.tls = true});
  const RedisServer sentinel({.tls = true,
                              .sentinel = {"sentinel monitor locks 127.0.0.1 " +
                                           std::to_string(master.tls_port()) + " 1"}});
  const auto authorities = master.folder() / "authorities.pem";
  std::ofstream(authorities) << std::ifstream(master.authority()).rdbuf()
                             << std::ifstream(sentinel.authority()).rdbuf();
  const std::string url =
      "rediss+sentinel://" + sentinel_at(sentinel.tls_port()) + "/locks?tls_ca=";
  expect<Grant>(open(url + authorities.string())->claim("job", wish()));
  EXPECT_EQ(RedisClient(master.port()).run({"EXISTS", "job"}), "1");
  for (const RedisServer* const trusted : {&master, &sentinel}) {
    const base::Error error = error_of_use(url + trusted->authority().string());
    EXPECT_TRUE(error.message.contains("certificate is refused")) << error.message;
  }
}

}  // namespace
}  // namespace holdfast::tests
