#include <holdfast/engines/redis/internal/topology.h>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

using namespace std::chrono_literals;
using Level = Finding::Level;

Info two_replicas() {
  return parse_info(
      "role:master\r\nconnected_slaves:2\r\n"
      "slave0:ip=10.0.0.2,port=6379,state=online,offset=10,lag=1\r\n"
      "slave1:ip=::3,port=6380,state=wait_bgsave,offset=0,lag=0\r\n");
}

TEST(Topology, ReplicasAreReadFromInfo) {
  EXPECT_EQ(replicas_of(two_replicas()),
            (std::vector<Replica>{
                {.host = "10.0.0.2", .port = 6379, .state = "online", .lag = 1},
                {.host = "::3", .port = 6380, .state = "wait_bgsave", .lag = 0},
            }));
  EXPECT_TRUE(replicas_of(parse_info("connected_slaves:0\r\nslave_x:ip\r\n")).empty());
}

TEST(Topology, AMasterThatWritesWithoutReplicasIsAWarningWhereItHasSome) {
  EXPECT_FALSE(judge_min_replicas({}, ReplicaSettings{}));
  EXPECT_FALSE(judge_min_replicas({}, std::nullopt));
  EXPECT_EQ(judge_min_replicas(two_replicas(), ReplicaSettings{})->level, Level::warning);
  EXPECT_EQ(judge_min_replicas(two_replicas(), std::nullopt)->level, Level::warning);
}

TEST(Topology, AMasterThatMissesReplicasIsBad) {
  EXPECT_EQ(
      judge_min_replicas(two_replicas(), ReplicaSettings{.to_write = 1, .max_lag_seconds = 10})
          ->level,
      Level::good);
  const auto finding =
      judge_min_replicas(two_replicas(), ReplicaSettings{.to_write = 2, .max_lag_seconds = 10});
  EXPECT_EQ(finding->level, Level::bad);
  EXPECT_TRUE(finding->detail.contains("1 replica is in step")) << finding->detail;
  EXPECT_EQ(judge_min_replicas({}, ReplicaSettings{.to_write = 1, .max_lag_seconds = 10})->level,
            Level::bad);
}

SentinelView view(std::string address) {
  return {.address = std::move(address),
          .master = "10.0.0.1:6379",
          .quorum = 2,
          .others = 2,
          .down_after = 30000,
          .check = "OK 3 usable Sentinels. Quorum and failover authorization can be reached"};
}

std::vector<SentinelView> three() { return {view("s1:1"), view("s2:1"), view("s3:1")}; }

TEST(Topology, ThreeSentinelsThatAgreeAreGood) {
  const Finding finding = judge_sentinels(three());
  EXPECT_EQ(finding.level, Level::good) << finding.detail;
  EXPECT_EQ(finding.detail,
            "3 of 3 Sentinels answer, quorum 2, master 10.0.0.1:6379, which is replaced when it is "
            "silent for 30s");
}

TEST(Topology, SentinelsThatAreSilentOrDisagreeAreAWarning) {
  auto views = three();
  views[1].answers = base::fail(base::ErrorCode::unavailable, "s2:1 sleeps");
  EXPECT_EQ(judge_sentinels(views).level, Level::warning);
  EXPECT_TRUE(judge_sentinels(views).detail.contains("s2:1 sleeps"));
  views = three();
  views[2].master = "10.0.0.2:6379";
  EXPECT_EQ(judge_sentinels(views).level, Level::warning);
  EXPECT_TRUE(judge_sentinels(views).detail.contains("s3:1: 10.0.0.2:6379"));
}

TEST(Topology, SentinelsThatCannotReplaceAMasterAreBad) {
  auto views = three();
  views[0].check = "NOQUORUM 1 usable Sentinels.";
  EXPECT_EQ(judge_sentinels(views).level, Level::bad);
  EXPECT_TRUE(judge_sentinels(views).detail.contains("s1:1 says NOQUORUM 1"));
}

TEST(Topology, TwoSentinelsAreTooFew) {
  auto two = view("s1:1");
  two.others = 1;
  EXPECT_EQ(judge_sentinels({two, two}).level, Level::warning);
  // The URL need not name them all.
  EXPECT_EQ(judge_sentinels({view("s1:1")}).level, Level::good);
}

TEST(Topology, ClocksOfReplicasAreToBeInStep) {
  EXPECT_EQ(judge_replica_clocks({{"r1", 20ms}, {"r2", -30ms}}).level, Level::good);
  const Finding behind = judge_replica_clocks({{"r1", 20ms}, {"r2", -3s}});
  EXPECT_EQ(behind.level, Level::warning);
  EXPECT_TRUE(behind.detail.contains("r2 3s behind")) << behind.detail;
  EXPECT_EQ(
      judge_replica_clocks({{"r1", base::fail(base::ErrorCode::unavailable, "refused")}}).level,
      Level::warning);
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
