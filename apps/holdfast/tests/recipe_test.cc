#include <csignal>
#include <string>

#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class RecipeTest : public Workspace {
 protected:
  Outcome throttle(const Words& words) {
    Words all{"throttle", "--limit", "2", "--per", "1h"};
    all.insert(all.end(), words.begin(), words.end());
    return holdfast(all);
  }
  Outcome once(const Words& words) {
    Words all{"once", "--per", "1h"};
    all.insert(all.end(), words.begin(), words.end());
    return holdfast(all);
  }
};

TEST_F(RecipeTest, ThrottleLetsSoManyPassAndThenSaysWhen) {
  EXPECT_EQ(throttle({"-n", "api"}).status, 0);
  EXPECT_EQ(throttle({"-n", "api", "--", "sh", "-c", "exit 7"}).status, 7);
  const Outcome refused = throttle({"-n", "api", "--", "echo", "passed"});
  EXPECT_EQ(refused.status, 75);
  EXPECT_EQ(refused.output, "");
  EXPECT_NE(refused.errors.find("api is throttled and may pass in"), std::string::npos)
      << refused.errors;
  EXPECT_EQ(throttle({"-w", "1s", "api"}).status, 75);
  EXPECT_EQ(throttle({"-n", "another"}).status, 0);
}

TEST_F(RecipeTest, ThrottleBecomesTheCommand) {
  const Outcome outcome =
      throttle({"api", "--", "sh", "-c", "cat; printf '<%s>' \"$@\"", "sh", "-n"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "<-n>");
  EXPECT_EQ(throttle({"api", "--", "/no/such/command"}).status, 127);
}

TEST_F(RecipeTest, ThrottleWaitsForItsTurn) {
  const Words words{"throttle", "--sliding", "--limit", "1", "--per", "200ms", "api", "--", "true"};
  EXPECT_EQ(holdfast(words).status, 0);
  EXPECT_EQ(holdfast(words).status, 0);
  EXPECT_EQ(holdfast(words).status, 0);
}

TEST_F(RecipeTest, ThrottleCountsInJson) {
  EXPECT_EQ(json({"throttle", "--json", "--limit", "5", "--per", "1h", "api"})["hits"], 1);
  EXPECT_EQ(json({"throttle", "--json", "--limit", "5", "--per", "1h", "api"})["hits"], 2);
}

TEST_F(RecipeTest, OneNameIsThrottledInOneWay) {
  EXPECT_EQ(throttle({"api"}).status, 0);
  EXPECT_EQ(throttle({"--sliding", "api"}).status, 64);
}

TEST_F(RecipeTest, ThrottleNeedsALimitAndAPeriod) {
  EXPECT_EQ(holdfast({"throttle", "--limit", "2", "api"}).status, 64);
  EXPECT_EQ(holdfast({"throttle", "--per", "1m", "api"}).status, 64);
  EXPECT_EQ(holdfast({"throttle", "--limit", "2", "--per", "1ms", "api"}).status, 64);
}

TEST_F(RecipeTest, OnceRunsACommandOnceInAPeriod) {
  EXPECT_EQ(once({"job", "--", "sh", "-c", "echo $HOLDFAST_NAME; exit 3"}).status, 3);
  const Outcome skipped = once({"job", "--", "echo", "again"});
  EXPECT_EQ(skipped.status, 0);
  EXPECT_EQ(skipped.output, "");
  EXPECT_EQ(once({"-E", "9", "job", "--", "echo", "again"}).status, 9);
  EXPECT_EQ(once({"other", "--", "echo", "first"}).output, "first\n");
}

TEST_F(RecipeTest, OnceIsSkippedWhileItRunsElsewhere) {
  const auto running = start({"once", "--per", "1h", "job", "--", "sh", "-c", "echo ready; cat"});
  EXPECT_EQ(running->read_line(), "ready");
  EXPECT_EQ(once({"-E", "9", "job", "--", "echo", "again"}).status, 9);
  EXPECT_EQ(running->wait(), 0);
}

TEST_F(RecipeTest, OnceRunsAgainInTheNextPeriod) {
  const Words words{"once", "--per", "200ms", "-E", "9", "job", "--", "true"};
  EXPECT_EQ(holdfast(words).status, 0);
  EXPECT_TRUE(eventually([&] { return holdfast(words).status == 0; }));
}

TEST_F(RecipeTest, OnceLetsACommandRunLongerThanThePeriod) {
  const Outcome outcome = holdfast({"once", "--per", "4s", "job", "--", "sleep", "5"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
}

TEST_F(RecipeTest, ACommandThatCannotBeExecutedDoesNotSpendThePeriod) {
  EXPECT_EQ(once({"job", "--", "/no/such/command"}).status, 127);
  EXPECT_EQ(once({"job", "--", "/"}).status, 126);
  EXPECT_EQ(once({"job", "--", "echo", "first"}).output, "first\n");
}

TEST_F(RecipeTest, OnceNeedsAPeriodAndACommand) {
  EXPECT_EQ(holdfast({"once", "job", "--", "true"}).status, 64);
  EXPECT_EQ(holdfast({"once", "--per", "1h", "job"}).status, 64);
  EXPECT_EQ(once({"--retry", "2h", "job", "--", "true"}).status, 64);
}

TEST_F(RecipeTest, TheElectedRunsAndTheNextFollows) {
  const auto first =
      start({"elect", "--owner", "anna", "post", "--", "sh", "-c", "echo ready; cat"});
  EXPECT_EQ(first->read_line(), "ready");
  const auto second =
      start({"elect", "--owner", "bert", "post", "--", "sh", "-c", "echo $HOLDFAST_TOKEN; exit 4"});
  EXPECT_EQ(json({"show", "--json", "post"})["holders"][0]["owner"], "anna");
  EXPECT_EQ(first->wait(), 0);
  EXPECT_GT(std::stoull(second->read_line()), 0U);
  EXPECT_EQ(second->wait(), 4);
}

TEST_F(RecipeTest, ALeaderThatAResignationMadeOnRedisIsLeftAlone) {
  const tests::RedisServer server;
  tests::RedisClient client(server.port());
  const Words elect{"elect", "--store", server.url(), "--ttl", "30s", "--owner"};
  const auto start_candidate = [&](const std::string& owner) {
    Words words = elect;
    words.insert(words.end(), {owner, "post", "--", "sh", "-c",
                               "trap 'echo TERM' TERM; echo ready; read line; true"});
    return start(words);
  };
  const auto shown = [&] { return json({"show", "--store", server.url(), "--json", "post"}); };
  const auto first = start_candidate("anna");
  EXPECT_EQ(first->read_line(), "ready") << first->rest_of_errors();
  const std::string before = client.run({"PUBSUB", "CHANNELS"});
  const auto second = start_candidate("bert");
  EXPECT_TRUE(eventually([&] { return client.run({"PUBSUB", "CHANNELS"}) != before; }));
  EXPECT_EQ(first->wait(), 0);
  EXPECT_EQ(second->read_line(), "ready") << second->rest_of_errors();
  // Longer than the lease of a grant that nobody confirms.
  EXPECT_TRUE(eventually([&] {
    const auto holders = shown()["holders"];
    return !holders.empty() && holders[0]["owner"] == "bert" && holders[0]["held_for_ms"] > 2500;
  }));
  EXPECT_EQ(second->wait(), 0);
  EXPECT_EQ(second->rest_of_output(), "");
  EXPECT_EQ(second->rest_of_errors(), "");
}

TEST_F(RecipeTest, ACandidateThatLosesItsTermCampaignsAgain) {
  const auto leader = start({"elect", "--ttl", "2s", "post", "--", "sh", "-c",
                             "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"});
  EXPECT_EQ(leader->read_line(), "ready");
  EXPECT_EQ(holdfast({"steal", "post", "--confirm", "post"}).status, 0);
  EXPECT_EQ(leader->read_line(), "ready");
  leader->signal(SIGTERM);
  EXPECT_EQ(leader->wait(), 0);
}

TEST_F(RecipeTest, ASignalThatComesWhileALostTermEndsIsHeeded) {
  const auto leader =
      start({"elect", "--ttl", "2s", "--kill-after", "60s", "post", "--", "sh", "-c",
             "n=0; trap 'n=$((n+1)); echo TERM $n; [ $n = 2 ] && exit 0' TERM; echo ready; "
             "while :; do sleep 0.05; done"});
  EXPECT_EQ(leader->read_line(), "ready");
  EXPECT_EQ(holdfast({"steal", "post", "--confirm", "post"}).status, 0);
  EXPECT_EQ(leader->read_line(), "TERM 1");
  leader->signal(SIGTERM);
  EXPECT_EQ(leader->read_line(), "TERM 2");
  EXPECT_EQ(leader->read_line(), "");  // it does not stand again
  EXPECT_EQ(leader->wait(), 128 + SIGTERM);
}

TEST_F(RecipeTest, ASharedNameIsHeldTogetherAndAnExclusiveWaiterIsNotPassed) {
  const auto sharing = start_holder({"-s", "doc"});
  EXPECT_EQ(holdfast({"run", "-n", "-s", "doc", "--", "true"}).status, 0);
  const auto alone = start({"run", "doc", "--", "true"});
  EXPECT_TRUE(
      eventually([&] { return holdfast({"run", "-n", "-s", "doc", "--", "true"}).status == 75; }));
  EXPECT_EQ(sharing->wait(), 0);
  EXPECT_EQ(alone->wait(), 0);
  EXPECT_EQ(holdfast({"run", "-n", "-s", "doc", "--", "true"}).status, 0);
}

TEST_F(RecipeTest, AWaiterForManyPermitsIsNotPassed) {
  const auto one = start_holder({"--permits", "1/3", "pool"});
  EXPECT_EQ(holdfast({"run", "-n", "--permits", "1/3", "pool", "--", "true"}).status, 0);
  const auto all = start({"run", "--permits", "3/3", "pool", "--", "true"});
  EXPECT_TRUE(eventually([&] {
    return holdfast({"run", "-n", "--permits", "1/3", "pool", "--", "true"}).status == 75;
  }));
  EXPECT_EQ(one->wait(), 0);
  EXPECT_EQ(all->wait(), 0);
}

}  // namespace

}  // namespace holdfast::cli::testing
