#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

using MarkTest = Workspace;

TEST_F(MarkTest, AMarkIsSeenUntilItIsCleared) {
  EXPECT_EQ(holdfast({"marked", "key"}).status, 1);
  EXPECT_EQ(holdfast({"marked", "key"}).output, "not marked\n");
  EXPECT_EQ(holdfast({"mark", "key", "--ttl", "1h"}).status, 0);
  const Outcome marked = holdfast({"marked", "key"});
  EXPECT_EQ(marked.status, 0);
  EXPECT_TRUE(marked.output.starts_with("marked, ") && marked.output.ends_with(" left\n"))
      << marked.output;
  EXPECT_EQ(holdfast({"clear", "key"}).status, 0);
  EXPECT_EQ(holdfast({"clear", "key"}).status, 0);
  EXPECT_EQ(holdfast({"marked", "key"}).status, 1);
}

TEST_F(MarkTest, ProgramsReadJson) {
  EXPECT_EQ(json({"mark", "--json", "key", "--ttl", "1h"})["outcome"], "marked");
  const auto marked = json({"marked", "--json", "key"});
  EXPECT_EQ(marked["key"], "key");
  EXPECT_EQ(marked["marked"], true);
  EXPECT_GT(marked["time_left_ms"], 30 * 60 * 1000);
  EXPECT_EQ(json({"mark", "--json", "--if-clear", "key", "--ttl", "1h"})["outcome"], "was_marked");
  EXPECT_EQ(json({"clear", "--json", "key"})["outcome"], "cleared");
  EXPECT_EQ(json({"clear", "--json", "key"})["outcome"], "was_not_marked");
  const auto not_marked = json({"marked", "--json", "key"});
  EXPECT_EQ(not_marked["marked"], false);
  EXPECT_TRUE(not_marked["time_left_ms"].is_null());
}

TEST_F(MarkTest, AMarkRunsOutByItself) {
  EXPECT_EQ(holdfast({"mark", "key", "--ttl", "100ms"}).status, 0);
  EXPECT_TRUE(eventually([this] { return holdfast({"marked", "key"}).status == 1; }));
}

TEST_F(MarkTest, TheLastMarkCountsUnlessItIsOnlyForAClearKey) {
  EXPECT_EQ(holdfast({"mark", "key", "--ttl", "1h"}).status, 0);
  EXPECT_EQ(holdfast({"mark", "key", "--ttl", "2h"}).status, 0);
  EXPECT_GT(json({"marked", "--json", "key"})["time_left_ms"], 90 * 60 * 1000);
  const Outcome busy = holdfast({"mark", "--if-clear", "key", "--ttl", "3h"});
  EXPECT_EQ(busy.status, 75);
  EXPECT_EQ(busy.errors, "holdfast: key is marked already\n");
  EXPECT_LT(json({"marked", "--json", "key"})["time_left_ms"], 150 * 60 * 1000);
  holdfast({"clear", "key"});
  EXPECT_EQ(holdfast({"mark", "--if-clear", "key", "--ttl", "3h"}).status, 0);
  EXPECT_EQ(holdfast({"marked", "key"}).status, 0) << "it stays when the command has ended";
}

TEST_F(MarkTest, MarksAndLocksDoNotMeet) {
  const auto holder = start_holder({"key"});
  EXPECT_EQ(holdfast({"marked", "key"}).status, 1);
  EXPECT_EQ(holdfast({"mark", "key", "--ttl", "1h"}).status, 0);
  EXPECT_EQ(holdfast({"clear", "key"}).status, 0);
  EXPECT_EQ(json({"show", "--json", "key"})["held"], true);
}

}  // namespace

}  // namespace holdfast::cli::testing
