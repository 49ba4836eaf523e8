#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class ContentionTest : public Workspace {};

TEST_F(ContentionTest, WithoutWaitingItEndsWith75AndSaysWhoHoldsTheName) {
  const auto holder = start_holder({"--owner", "ci@host:41", "--reason", "deploy 812", "job"});
  const Outcome outcome = holdfast({"run", "-n", "job", "--", "echo", "mine"});
  EXPECT_EQ(outcome.status, 75);
  EXPECT_EQ(outcome.output, "");
  EXPECT_NE(outcome.errors.find("job is held by ci@host (pid 41) \"deploy 812\" for "),
            std::string::npos)
      << outcome.errors;
  EXPECT_EQ(holder->wait(), 0);
}

TEST_F(ContentionTest, AnotherStatusCanBeAskedFor) {
  const auto holder = start_holder({"job"});
  EXPECT_EQ(holdfast({"run", "-n", "-E", "7", "job", "--", "true"}).status, 7);
  EXPECT_EQ(holdfast({"run", "-n", "-E", "0", "job", "--", "true"}).status, 0);
}

TEST_F(ContentionTest, AWaitThatIsOverEndsWith75) {
  const auto holder = start_holder({"job"});
  const Outcome outcome = holdfast({"run", "-w", "50ms", "job", "--", "true"});
  EXPECT_EQ(outcome.status, 75);
  EXPECT_NE(outcome.errors.find("not free within 50ms"), std::string::npos) << outcome.errors;
}

TEST_F(ContentionTest, AWaitIsReportedAsItWasGiven) {
  const auto holder = start_holder({"job"});
  const Outcome outcome = holdfast({"run", "-w", "1500ms", "job", "--", "true"});
  EXPECT_EQ(outcome.status, 75);
  EXPECT_NE(outcome.errors.find("not free within 1500ms"), std::string::npos) << outcome.errors;
}

TEST_F(ContentionTest, AWaiterGetsTheNameWhenTheHolderEnds) {
  const auto holder = start_holder({"--owner", "first", "job"});
  const auto waiter = start({"run", "-v", "-w", "60s", "job", "--", "echo", "mine"});
  EXPECT_TRUE(starts_with_match(waiter->read_error_line(),
                                "holdfast: waiting [0-9]+[sm] for job · held by first for "));
  holder->close_input();
  EXPECT_EQ(waiter->read_line(), "mine");
  EXPECT_EQ(waiter->wait(), 0);
}

// Where the name goes from one to the next without being free in between.
TEST_F(ContentionTest, AWaiterThatWasGivenTheNameRunsItsCommandToItsEnd) {
  const tests::RedisServer server;
  environment()["HOLDFAST_STORE"] = server.url();
  const auto holder = start_holder({"job"});
  const auto waiter =
      start({"run", "-v", "-w", "60s", "job", "--", "sh", "-c", "echo mine; read -r rest"});
  EXPECT_TRUE(starts_with_match(waiter->read_error_line(), "holdfast: waiting [0-9]+[sm]"));
  holder->close_input();
  EXPECT_EQ(waiter->read_line(), "mine");
  waiter->write("and no more\n");
  EXPECT_EQ(waiter->wait(), 0) << waiter->rest_of_errors();
}

TEST_F(ContentionTest, ManyRunsOfOneNameNeverOverlap) {
  constexpr int kRuns = 8;
  const std::string script =
      "n=$(cat counter); test ! -e inside; touch inside; echo $((n + 1)) > counter; rm inside";
  run_to_end({"sh", "-c", "echo 0 > " + (folder() / "counter").string()}, environment());
  std::vector<std::unique_ptr<Process>> runs;
  for (int i = 0; i < kRuns; ++i) {
    runs.push_back(
        start({"run", "job", "--", "sh", "-ec", "cd " + folder().string() + "; " + script}));
  }
  for (const auto& run : runs) {
    EXPECT_EQ(run->wait(), 0) << run->rest_of_errors();
  }
  const Outcome counted = run_to_end({"cat", (folder() / "counter").string()}, environment());
  EXPECT_EQ(counted.output, std::to_string(kRuns) + "\n");
}

TEST_F(ContentionTest, SharersHoldTheNameTogether) {
  const auto one = start_holder({"-s", "job"});
  const auto two = start_holder({"-s", "-n", "job"});
  const auto state = json({"show", "--json", "job"});
  EXPECT_EQ(state["holders"].size(), 2U);
  EXPECT_TRUE(state["capacity"].is_null());
}

TEST_F(ContentionTest, SharedAndAloneExcludeEachOther) {
  {
    const auto shared = start_holder({"-s", "job"});
    EXPECT_EQ(holdfast({"run", "-n", "job", "--", "true"}).status, 75);
    EXPECT_EQ(holdfast({"run", "-w", "50ms", "job", "--", "true"}).status, 75);
    const auto alone = start({"run", "-v", "job", "--", "echo", "alone"});
    EXPECT_TRUE(starts_with_match(alone->read_error_line(), "holdfast: waiting [0-9]+[sm]"));
    shared->close_input();
    EXPECT_EQ(alone->read_line(), "alone");
    EXPECT_EQ(alone->wait(), 0);
  }
  const auto alone = start_holder({"job"});
  EXPECT_EQ(holdfast({"run", "-s", "-n", "job", "--", "true"}).status, 75);
  const auto shared = start({"run", "-s", "-v", "job", "--", "echo", "shared"});
  EXPECT_TRUE(starts_with_match(shared->read_error_line(), "holdfast: waiting [0-9]+[sm]"));
  alone->close_input();
  EXPECT_EQ(shared->read_line(), "shared");
}

TEST_F(ContentionTest, PermitsAreCounted) {
  const auto one = start_holder({"--permits", "1/2", "job"});
  const auto two = start_holder({"--permits", "1/2", "-n", "job"});
  EXPECT_EQ(holdfast({"run", "--permits", "1/2", "-n", "job", "--", "true"}).status, 75);
  EXPECT_EQ(json({"show", "--json", "job"})["capacity"], 2);
}

TEST_F(ContentionTest, AnotherNumberOfPermitsIsAMistake) {
  const auto holder = start_holder({"--permits", "1/2", "job"});
  const Outcome outcome = holdfast({"run", "--permits", "1/3", "job", "--", "true"});
  EXPECT_EQ(outcome.status, 64);
  EXPECT_NE(outcome.errors.find("capacity"), std::string::npos) << outcome.errors;
  EXPECT_EQ(holdfast({"run", "job", "--", "true"}).status, 64);
}

}  // namespace

}  // namespace holdfast::cli::testing
