#include <tests/redis/redis_test.h>

#include <holdfast/engines/redis/redis_diagnosis.h>

namespace holdfast::tests {
namespace {

using engines::redis::Finding;
using Level = Finding::Level;

Level level_of(const RedisServer& server, std::string_view name) {
  const auto findings =
      base::value_or_throw(engines::redis::diagnose({.host = "127.0.0.1", .port = server.port()}));
  for (const Finding& finding : findings) {
    if (finding.name == name) {
      return finding.level;
    }
  }
  throw std::runtime_error("nothing was found out about " + std::string(name));
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
