#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>

#include <tests/mongodb/mongo_test.h>
#include <tests/support/cutting_proxy.h>
#include <tests/support/forked_child.h>

#include <holdfast/engines/mongodb/mongo_diagnosis.h>
#include <holdfast/engines/mongodb/mongo_repository.h>
#include <holdfast/engines/mongodb/mongo_url.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using engines::mongodb::Finding;
using store::Claim;
using store::Grant;
using store::Permits;
using store::ReleaseOutcome;
using Level = Finding::Level;

// One round through all that works on every server.
void use(store::LeaseStore& store) {
  const Claim one = wish(Permits::of(1, 2));
  const Claim two = wish(Permits::of(1, 2));
  const Grant first = expect<Grant>(store.claim("pool", one));
  EXPECT_EQ(expect<Grant>(store.claim("pool", one)).token, first.token);
  expect<Grant>(store.claim("pool", two));
  expect<store::Busy>(store.claim("pool", wish(Permits::of(1, 2))));
  const Claim three = wish(Permits::of(1, 2));
  EXPECT_GT(expect<Grant>(store.transfer("pool", one.id, three)).token, first.token);
  const store::Renewal renewal{.name = "pool", .id = three.id, .ttl = 20min};
  EXPECT_EQ(base::value_or_throw(store.renew({&renewal, 1})).at(0), store::RenewOutcome::renewed);
  EXPECT_EQ(base::value_or_throw(store.look("pool"))->holders.size(), 2U);
  EXPECT_EQ(base::value_or_throw(store.list("po")).names.size(), 1U);
  EXPECT_EQ(store.release("pool", three.id), ReleaseOutcome::released);
  EXPECT_EQ(store.release("pool", three.id), ReleaseOutcome::not_held);
}

TEST(ServerKinds, AVersion42ServerHasAllButHits) {
  const MongoServer server({.wire_version = 8});
  const auto store = store_on(server);
  use(*store);
  EXPECT_EQ(store->hit("calls", {.limit = 1, .period = 1min}).error().code, ErrorCode::unsupported);
  EXPECT_TRUE(
      base::value_or_throw(store->hit("calls", {.limit = 1, .period = 1min, .count = 0})).allowed);
}

TEST(ServerKinds, AServerOfItsOwnHasEverything) {
  const MongoServer server({.standalone = true});
  const auto store = store_on(server);
  use(*store);
  EXPECT_TRUE(base::value_or_throw(store->hit("calls", {.limit = 1, .period = 1min})).allowed);
}

TEST(ServerKinds, ByTls) {
  const MongoServer server({.tls = true});
  auto options = base::value_or_throw(engines::mongodb::parse_mongo_url(server.url()));
  use(*store_on(options));
  options.uri = server.url().substr(0, server.url().find('?')) +
                "?tls=true&tlsCAFile=" + (server.folder() / "strange.pem").string();
  options.reply_timeout = 500ms;
  const auto refused = store_on(options)->claim("job", wish());
  ASSERT_FALSE(refused) << "a stranger's certificate was accepted";
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
}

TEST(ServerKinds, WhatIsNotTheUriOfAServerIsInvalid) {
  EXPECT_EQ(engines::mongodb::open_store({.uri = "mongodb://"}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(engines::mongodb::open_store({.uri = "mongodb://h/?w=1"}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(engines::mongodb::open_store({.max_connections = 0}).error().code,
            ErrorCode::invalid_argument);
}

TEST(ServerKinds, AStoreIsOpenBeforeItsServerIsThere) {
  MongoServer server({.must_be_stand_in = true, .own = true});
  server.kill();
  const auto store = store_on(server);
  const auto soon = [] { return base::Deadline::after(base::steady_clock(), 100ms); };
  EXPECT_EQ(store->claim("job", wish(), soon()).error().code, ErrorCode::unavailable);
  EXPECT_EQ(store->look("job", soon()).error().code, ErrorCode::unavailable);
  server.restart();
  expect<Grant>(store->claim("job", wish()));
}

TEST(ServerKinds, InAForkedChildNothingIsDone) {
  const MongoServer server;
  auto store = store_on(server);
  const Claim claim = wish();
  expect<Grant>(store->claim("job", claim));
  auto parents = store->watch("job", [](const auto&) {});
  ASSERT_TRUE(parents);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto released = store->release("job", claim.id);
    const auto watch = store->watch("job", [](const auto&) {});
    const bool refused = !released && released.error().code == ErrorCode::unsupported && !watch &&
                         watch.error().code == ErrorCode::unsupported;
    parents->reset();
    store.reset();
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store->release("job", claim.id), ReleaseOutcome::released);
}

// It has the parent's connections, and must not end the parent's sessions there.
TEST(ServerKinds, AForkedChildThatDestroysTheStoreAndTheRepositoryEndsNoSession) {
  const MongoServer server;
  const CuttingProxy proxy(server.port(), "endSessions");
  auto options = options_for(server);
  options.uri = server.url_by(proxy.port());
  auto store = store_on(options);
  auto repository = base::value_or_throw(engines::mongodb::open_repository(options));
  const auto other = store_on(options);
  // Nothing that writes: that would make an index, in the background and in a session of its own.
  EXPECT_TRUE(store->look("job"));
  EXPECT_TRUE(repository->load({.type = "order", .id = "17"}, base::FencingToken(0)));
  EXPECT_TRUE(is_true_in_child([&] {
    store.reset();
    repository.reset();
    return true;
  }));
  // At the second answer, the proxy has seen what was sent before the first.
  EXPECT_TRUE(other->look("job"));
  EXPECT_TRUE(other->look("job"));
  EXPECT_FALSE(proxy.has_heard());
  repository.reset();
  EXPECT_TRUE(eventually([&] { return proxy.has_heard(); })) << "the parent does";
}

TEST(ServerKinds, MoreThreadsThanConnectionsWaitForOne) {
  const MongoServer server;
  auto options = options_for(server);
  options.max_connections = 2;
  const auto store = store_on(std::move(options));
  std::atomic<int> granted = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 12; ++i) {
      threads.emplace_back([&, i] {
        const auto outcome = store->claim("job " + std::to_string(i), wish());
        granted += outcome && std::holds_alternative<Grant>(*outcome);
      });
    }
  }
  EXPECT_EQ(granted, 12);
}

// The program of docs/coming-from/distributedlock-mongodb.md: no call names a ttl or a cadence.
TEST(Guide, TheExpiryOfTheUrlIsTheTtlOfALockAndItsCadenceRenewsIt) {
  const MongoServer server;
  const char mark = server.url().find('?') == std::string::npos ? '?' : '&';
  auto options = base::value_or_throw(engines::mongodb::parse_mongo_url(
      server.url() + mark + "expiry=10m&extension_cadence=200ms"));
  std::atomic<int> renewals = 0;
  locks::LockProvider provider(
      base::value_or_throw(engines::mongodb::open_store(std::move(options))),
      {.metrics = {.count = [&](std::string_view counter, std::string_view, std::uint64_t) {
         renewals += counter == "renewed" ? 1 : 0;
       }}});
  const auto lock = provider.acquire("invoice/17");
  const auto state = base::value_or_throw(provider.look("invoice/17"));
  EXPECT_GT(state->holders.at(0).time_left, 5min);
  EXPECT_LE(state->holders.at(0).time_left, 10min);
  // Without the cadence, the first renewal would be sent after more than three minutes.
  EXPECT_TRUE(eventually([&] { return renewals > 2; }));
  EXPECT_FALSE(lock.lost().stop_requested());
}

std::map<std::string, Level> levels(const MongoServer& server) {
  std::map<std::string, Level> found;
  for (const Finding& finding :
       base::value_or_throw(engines::mongodb::diagnose(options_for(server)))) {
    found[finding.name] = finding.level;
  }
  return found;
}

TEST(Diagnosis, AReplicaSetIsGood) {
  const MongoServer server;
  expect<Grant>(store_on(server)->claim("job", wish()));
  EXPECT_TRUE(eventually([&] {
    return levels(server) == std::map<std::string, Level>{{"version", Level::good},
                                                          {"topology", Level::good},
                                                          {"write_concern", Level::good},
                                                          {"ttl_index", Level::good},
                                                          {"clock_offset", Level::good}};
  }));
}

TEST(Diagnosis, AnOldServerOfItsOwnIsAWarning) {
  const MongoServer server({.standalone = true, .wire_version = 8});
  const auto found = levels(server);
  EXPECT_EQ(found.at("version"), Level::warning);
  EXPECT_EQ(found.at("topology"), Level::warning);
  EXPECT_EQ(found.at("ttl_index"), Level::warning);
}

TEST(Diagnosis, AClockThatIsFarOffIsAWarning) {
  const MongoServer server({.must_be_stand_in = true, .own = true});
  MongoClient(server.url()).run("admin", R"({"holdfastSetClock": 1, "offsetMS": -3600000})");
  EXPECT_EQ(levels(server).at("clock_offset"), Level::warning);
}

}  // namespace
}  // namespace holdfast::tests
