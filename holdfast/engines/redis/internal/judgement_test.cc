#include <holdfast/engines/redis/internal/judgement.h>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

using Level = Finding::Level;

constexpr std::string_view kGood =
    "# Server\r\nredis_version:7.0.15\r\nmaxmemory:1000\r\nmaxmemory_policy:noeviction\r\n"
    "aof_enabled:1\r\naof_last_write_status:ok\r\nrole:master\r\nconnected_slaves:0\r\n"
    "cluster_enabled:0\r\n";

// The finding of that name for a good server of which one line is different.
Finding with(std::string_view name, std::string_view key, std::string_view value) {
  Info info = parse_info(kGood);
  info.insert_or_assign(std::string(key), std::string(value));
  for (const Finding& finding : judge(info)) {
    if (finding.name == name) {
      return finding;
    }
  }
  return {};
}

TEST(Judgement, AGoodServerHasNothingToComplainAbout) {
  for (const Finding& finding : judge(parse_info(kGood))) {
    EXPECT_EQ(finding.level, Level::good) << finding.name << ": " << finding.detail;
  }
}

TEST(Judgement, AnOldServerIsBad) {
  EXPECT_EQ(with("version", "redis_version", "6.2.1").level, Level::bad);
  EXPECT_EQ(with("version", "valkey_version", "8.0.1").detail, "Valkey 8.0.1");
}

TEST(Judgement, EvictionIsBadWhereItCanHappen) {
  EXPECT_EQ(with("eviction", "maxmemory_policy", "volatile-ttl").level, Level::bad);
  EXPECT_NE(with("eviction", "maxmemory_policy", "allkeys-lru").detail.find("noeviction"),
            std::string::npos);
  Info unlimited = parse_info(kGood);
  unlimited["maxmemory"] = "0";
  unlimited["maxmemory_policy"] = "allkeys-lru";
  EXPECT_EQ(judge(unlimited).at(1).level, Level::warning);
}

TEST(Judgement, MissingPersistenceIsAWarningAndFailingPersistenceIsBad) {
  EXPECT_EQ(with("persistence", "aof_enabled", "0").level, Level::warning);
  EXPECT_EQ(with("persistence", "aof_last_write_status", "err").level, Level::bad);
}

TEST(Judgement, ReplicasAreAWarningWithTheirLag) {
  Info info = parse_info(kGood);
  info["connected_slaves"] = "2";
  info["slave0"] = "ip=10.0.0.2,port=6379,state=online,offset=10,lag=1";
  info["slave1"] = "ip=10.0.0.3,port=6379,state=online,offset=10,lag=7";
  const Finding finding = judge(info).at(3);
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_NE(
      finding.detail.find("2 replicas, 10.0.0.2:6379 (1 s behind), 10.0.0.3:6379 (7 s behind)"),
      std::string::npos)
      << finding.detail;
  EXPECT_EQ(with("replication", "role", "slave").level, Level::bad);
}

TEST(Judgement, AClusterIsBad) {
  EXPECT_EQ(with("cluster_mode", "cluster_enabled", "1").level, Level::bad);
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
