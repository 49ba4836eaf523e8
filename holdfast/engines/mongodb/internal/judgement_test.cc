#include <holdfast/engines/mongodb/internal/judgement.h>

#include <gtest/gtest.h>

namespace holdfast::engines::mongodb::internal {
namespace {

using Level = store::Finding::Level;

TEST(Judgement, VersionsBefore42AreBadAndBefore44AWarning) {
  EXPECT_EQ(judge_version("4.0.28", 7).level, Level::bad);
  EXPECT_EQ(judge_version("4.2.24", 8).level, Level::warning);
  EXPECT_EQ(judge_version("4.4.29", 9).level, Level::good);
  EXPECT_EQ(judge_version("7.0.5", 21).detail, "MongoDB 7.0.5");
}

TEST(Judgement, AServerOnItsOwnIsAWarning) {
  EXPECT_EQ(judge_topology({}).level, Level::warning);
  EXPECT_EQ(judge_topology({.is_router = true, .set_name = ""}).level, Level::good);
  EXPECT_EQ(judge_topology({.set_name = "rs0"}).level, Level::good);
}

TEST(Judgement, LessThanAMajorityIsAWarning) {
  EXPECT_EQ(judge_write_concern("majority").level, Level::good);
  EXPECT_EQ(judge_write_concern("1").level, Level::warning);
}

TEST(Judgement, AMissingIndexIsAWarning) {
  EXPECT_EQ(judge_index(std::nullopt).level, Level::warning);
  EXPECT_EQ(judge_index(3600).level, Level::good);
}

}  // namespace
}  // namespace holdfast::engines::mongodb::internal
