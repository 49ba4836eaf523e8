#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

using WhyTest = Workspace;

TEST_F(WhyTest, ANameThatNothingKeepsIsFree) {
  EXPECT_EQ(holdfast({"why", "job"}).output, "job is free\n");
  const auto why = json({"why", "--json", "job"});
  EXPECT_EQ(why["held"], false);
  EXPECT_TRUE(why["once"].is_null() && why["throttle"].is_null() && why["mark"].is_null());
}

TEST_F(WhyTest, AHeldNameIsHeldBySomebody) {
  const auto holder = start_holder({"--owner", "ci", "--reason", "deploy 812", "job"});
  const Outcome why = holdfast({"why", "job"});
  EXPECT_EQ(why.status, 0);
  EXPECT_TRUE(why.output.starts_with("job is held by ci \"deploy 812\" for ")) << why.output;
  EXPECT_NE(why.output.find("(mutex), lease "), std::string::npos) << why.output;
  EXPECT_EQ(json({"why", "--json", "job"})["holders"][0]["owner"], "ci");
}

TEST_F(WhyTest, WhatHasRunOnceWaitsForTheNextPeriod) {
  EXPECT_EQ(holdfast({"once", "--per", "1h", "job", "--", "true"}).status, 0);
  EXPECT_TRUE(holdfast({"why", "job"}).output.starts_with("once: has run in this period by "));
  EXPECT_EQ(json({"why", "--json", "job"})["once"]["reason"], "has run in this period");
}

TEST_F(WhyTest, AThrottleOfEitherWindowHasCountedCalls) {
  EXPECT_EQ(holdfast({"throttle", "--limit", "9", "--per", "1h", "api"}).status, 0);
  EXPECT_EQ(holdfast({"throttle", "--limit", "9", "--per", "1h", "api"}).status, 0);
  EXPECT_EQ(holdfast({"throttle", "--sliding", "--limit", "9", "--per", "1h", "db"}).status, 0);
  EXPECT_TRUE(holdfast({"why", "api"}).output.starts_with("throttle: 2 passed in this window"));
  EXPECT_EQ(json({"why", "--json", "db"})["throttle"]["hits"], 1);
  // To ask counts nothing.
  EXPECT_EQ(json({"why", "--json", "api"})["throttle"]["hits"], 2);
}

TEST_F(WhyTest, AMarkedKeyIsMarked) {
  EXPECT_EQ(holdfast({"mark", "key", "--ttl", "1h"}).status, 0);
  EXPECT_TRUE(holdfast({"why", "key"}).output.starts_with("mark: set by "));
}

TEST_F(WhyTest, TheListSaysOfWhichKindANameIs) {
  const auto holder = start_holder({"job"});
  EXPECT_EQ(holdfast({"once", "--per", "1h", "nightly", "--", "true"}).status, 0);
  EXPECT_EQ(holdfast({"mark", "key", "--ttl", "1h"}).status, 0);
  const auto names = json({"ls", "--json"})["names"];
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[0]["kind"], "lock");
  EXPECT_EQ(names[1]["kind"], "mark");
  EXPECT_EQ(names[2]["kind"], "once");
  EXPECT_TRUE(json({"show", "--json", "free"})["kind"].is_null());
}

using ResetTest = Workspace;

TEST_F(ResetTest, WhatHasRunOnceRunsAgainInTheSamePeriod) {
  const Words run{"once", "--per", "1h", "job", "--", "echo", "ran"};
  EXPECT_EQ(holdfast({"reset", "job"}).output, "job has not run in this period\n");
  EXPECT_EQ(holdfast(run).output, "ran\n");
  EXPECT_EQ(holdfast(run).output, "");
  EXPECT_EQ(json({"reset", "--json", "job"})["outcome"], "reset");
  EXPECT_EQ(holdfast(run).output, "ran\n");
}

TEST_F(ResetTest, ARunThatIsUnderWayIsNotForgotten) {
  const auto run = start({"once", "--per", "1h", "job", "--", "sh", "-c", "echo ready; read line"});
  EXPECT_EQ(run->read_line(), "ready");
  const Outcome refused = holdfast({"reset", "job"});
  EXPECT_EQ(refused.status, 75);
  EXPECT_NE(refused.errors.find("holdfast steal once/job"), std::string::npos) << refused.errors;
  run->write("end\n");
  EXPECT_EQ(run->wait(), 0);
}

TEST_F(ResetTest, ALockIsNotForgotten) {
  const auto holder = start_holder({"job"});
  const Outcome refused = holdfast({"reset", "job"});
  EXPECT_EQ(refused.status, 75);
  EXPECT_NE(refused.errors.find("holdfast steal job"), std::string::npos) << refused.errors;
}

}  // namespace

}  // namespace holdfast::cli::testing
