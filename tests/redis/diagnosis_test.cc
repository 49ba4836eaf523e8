#include <tests/redis/redis_test.h>
#include <tests/support/sentinel_set.h>

#include <holdfast/engines/redis/redis_diagnosis.h>
#include <holdfast/engines/redis/redis_url.h>

namespace holdfast::tests {
namespace {

using engines::redis::Finding;
using Level = Finding::Level;

Finding finding_of(const engines::redis::RedisOptions& options, std::string_view name) {
  for (const Finding& finding : base::value_or_throw(engines::redis::diagnose(options))) {
    if (finding.name == name) {
      return finding;
    }
  }
  throw std::runtime_error("nothing was found out about " + std::string(name));
}

Level level_of(const RedisServer& server, std::string_view name) {
  return finding_of({.host = "127.0.0.1", .port = server.port()}, name).level;
}

TEST(Diagnosis, AServerForLocksIsGood) {
  const RedisServer server({.arguments = {"--appendonly", "yes"}});
  for (const char* const name :
       {"version", "eviction", "persistence", "replication", "cluster_mode", "clock_offset"}) {
    EXPECT_EQ(level_of(server, name), Level::good) << name;
  }
}

TEST(Diagnosis, ACacheIsNoPlaceForLocks) {
  const RedisServer server(
      {.arguments = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}});
  EXPECT_EQ(level_of(server, "eviction"), Level::bad);
  EXPECT_EQ(level_of(server, "persistence"), Level::warning);
}

TEST(Diagnosis, AReplicaIsBadAndItsMasterAWarning) {
  const RedisServer master;
  const RedisServer replica(
      {.arguments = {"--replicaof", "127.0.0.1", std::to_string(master.port())}});
  EXPECT_EQ(level_of(replica, "replication"), Level::bad);
  EXPECT_TRUE(eventually([&] { return level_of(master, "replication") == Level::warning; }));
}

TEST(Diagnosis, AServerThatMissesItsReplicasIsBad) {
  const RedisServer alone({.arguments = {"--min-replicas-to-write", "1"}});
  EXPECT_EQ(level_of(alone, "min_replicas"), Level::bad);
  EXPECT_THROW(level_of(RedisServer(), "min_replicas"), std::runtime_error);
}

TEST(Diagnosis, SettingsThatTheUserMayNotReadAreAWarningIfThereAreReplicas) {
  const RedisServer master;
  RedisClient client(master.port());
  EXPECT_EQ(client.run({"ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-config"}),
            "OK");
  const engines::redis::RedisOptions options{
      .host = "127.0.0.1", .port = master.port(), .user = "app", .password = "pw"};
  EXPECT_THROW(finding_of(options, "min_replicas"), std::runtime_error);
  const RedisServer replica(
      {.arguments = {"--replicaof", "127.0.0.1", std::to_string(master.port())}});
  ASSERT_TRUE(eventually([&] { return level_of(master, "replication") == Level::warning; }));
  EXPECT_EQ(finding_of(options, "min_replicas").level, Level::warning);
}

TEST(Diagnosis, TheTopologyOfSentinelsIsDescribed) {
  const SentinelSet set({.arguments = {"--min-replicas-to-write", "1"}});
  const auto options = base::value_or_throw(engines::redis::parse_redis_url(set.url()));
  const auto text_of = [&](std::string_view name) { return finding_of(options, name).detail; };
  EXPECT_TRUE(text_of("sentinels").starts_with("3 of 3 Sentinels answer, quorum 2, master"))
      << text_of("sentinels");
  EXPECT_EQ(finding_of(options, "sentinels").level, Level::good);
  EXPECT_TRUE(text_of("replication").starts_with("2 replicas, 127.0.0.1:"))
      << text_of("replication");
  EXPECT_EQ(finding_of(options, "min_replicas").level, Level::good) << text_of("min_replicas");
  EXPECT_TRUE(text_of("replica_clock").starts_with("in step")) << text_of("replica_clocks");
  set.sentinel(1).kill();
  set.sentinel(2).kill();
  EXPECT_EQ(set.ask(set.sentinel(0).port(), {"SENTINEL", "SET", SentinelSet::kMasterName,
                                             "down-after-milliseconds", "1000"}),
            "OK");
  EXPECT_TRUE(eventually([&] { return finding_of(options, "sentinels").level == Level::bad; }));
  EXPECT_TRUE(text_of("sentinels").contains("NOQUORUM")) << text_of("sentinels");
}

TEST(Diagnosis, ANodeOfAClusterIsBad) {
  const RedisServer server({.cluster = true});
  EXPECT_EQ(level_of(server, "cluster_mode"), Level::bad);
}

TEST(Diagnosis, AServerThatIsNotThereIsUnavailable) {
  const auto findings = engines::redis::diagnose({.host = "127.0.0.1", .port = 1});
  ASSERT_FALSE(findings);
  EXPECT_EQ(findings.error().code, base::ErrorCode::unavailable);
}

}  // namespace
}  // namespace holdfast::tests
