#include <holdfast/engines/postgresql/internal/judgement.h>

#include <gtest/gtest.h>

namespace holdfast::engines::postgresql::internal {
namespace {

using Level = store::Finding::Level;

TEST(Judgement, VersionsBefore14AreBad) {
  EXPECT_EQ(judge_version("13.18", 130'018).level, Level::bad);
  EXPECT_EQ(judge_version("14.0", 140'000).level, Level::good);
  EXPECT_EQ(judge_version("17.2", 170'002).detail, "PostgreSQL 17.2");
}

TEST(Judgement, APoolerIsAWarning) {
  EXPECT_EQ(judge_pooler(false).level, Level::warning);
  EXPECT_EQ(judge_pooler(true).level, Level::good);
}

TEST(Judgement, ATableThatACrashMayDamageIsBad) {
  EXPECT_EQ(judge_durability("on", "on").level, Level::good);
  EXPECT_NE(judge_durability("off", "on").detail.find("fsync is off"), std::string::npos);
  EXPECT_EQ(judge_durability("on", "off").level, Level::bad);
}

TEST(Judgement, AnAsynchronousStandbyIsAWarning) {
  EXPECT_EQ(judge_replication(2, "").level, Level::warning);
  EXPECT_EQ(judge_replication(2, "ANY 1 (a, b)").level, Level::good);
  EXPECT_EQ(judge_replication(0, "").level, Level::good);
}

TEST(Judgement, AGrantThatDoesNotWaitForTheDiskIsAWarning) {
  using Commit = PostgresOptions::Commit;
  EXPECT_EQ(judge_commit("on", Commit::as_configured).level, Level::good);
  EXPECT_EQ(judge_commit("off", Commit::as_configured).level, Level::warning);
  EXPECT_EQ(judge_commit("on", Commit::off).level, Level::warning);
}

TEST(Judgement, ATableThatOnlyGrowsIsAWarning) {
  EXPECT_EQ(judge_vacuum("off", 0, 10).level, Level::warning);
  EXPECT_EQ(judge_vacuum("on", 5'000'000, 10).level, Level::warning);
  EXPECT_EQ(judge_vacuum("on", 5'000, 10).level, Level::good);
}

}  // namespace
}  // namespace holdfast::engines::postgresql::internal
