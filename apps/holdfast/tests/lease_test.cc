#include <csignal>
#include <sstream>

#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class LeaseTest : public Workspace {
 protected:
  // The lease id that `holdfast acquire` printed.
  std::string acquire(const Words& options) {
    Words words{"acquire"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = holdfast(words);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output.substr(0, outcome.output.find(' '));
  }
};

TEST_F(LeaseTest, ALeaseStaysWhenAcquireHasEndedAndIsReleasedById) {
  const std::string lease = acquire({"--ttl", "1h", "job"});
  EXPECT_EQ(lease.size(), 32U);
  EXPECT_EQ(json({"show", "--json", "job"})["holders"][0]["lease_id"], lease);
  EXPECT_EQ(holdfast({"acquire", "-n", "job"}).status, 75);
  EXPECT_EQ(holdfast({"release", "job", lease}).status, 0);
  EXPECT_EQ(json({"show", "--json", "job"})["held"], false);
  EXPECT_EQ(holdfast({"release", "job", lease}).status, 79);
}

TEST_F(LeaseTest, TheCallerOfAcquireIsItsOwner) {
  acquire({"--ttl", "1h", "job"});
  const std::string owner = json({"show", "--json", "job"})["holders"][0]["owner"];
  EXPECT_TRUE(owner.ends_with(":" + std::to_string(getpid()))) << owner;
}

TEST_F(LeaseTest, RenewExtendsAndSaysWhenItIsTooLate) {
  const std::string lease = acquire({"--ttl", "1m", "job"});
  EXPECT_EQ(holdfast({"renew", "job", lease, "--ttl", "1h"}).status, 0);
  EXPECT_GT(json({"show", "--json", "job"})["holders"][0]["time_left_ms"], 30 * 60 * 1000);
  holdfast({"steal", "job", "--confirm", "job"});
  EXPECT_EQ(holdfast({"renew", "job", lease}).status, 79);
  EXPECT_EQ(json({"renew", "--json", "job", lease})["outcome"], "lost");
}

TEST_F(LeaseTest, StealSaysWhoLostTheName) {
  acquire({"--ttl", "1h", "--owner", "ci@host:41", "--reason", "deploy 812", "job"});
  const Outcome outcome = holdfast({"steal", "job", "--confirm", "job"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.output.starts_with(
      "stole job from ci@host (pid 41) \"deploy 812\", who had held it for "))
      << outcome.output;
  EXPECT_EQ(holdfast({"steal", "job", "--confirm", "job"}).output, "job was free already\n");
}

TEST_F(LeaseTest, ALockOfAnotherProgramIsListedAndNotStolen) {
  tests::RedisServer server;
  tests::RedisClient client(server.port());
  client.run({"SET", "job", "theirs", "PX", "600000"});
  const Outcome listed = holdfast({"ls", "--store", server.url()});
  EXPECT_NE(listed.output.find("job"), std::string::npos) << listed.output << listed.errors;
  const Outcome stolen = holdfast({"steal", "--store", server.url(), "job", "--confirm", "job"});
  EXPECT_EQ(stolen.status, 75);
  EXPECT_NE(stolen.errors.find("another program"), std::string::npos) << stolen.errors;
  EXPECT_EQ(client.run({"GET", "job"}), "theirs");
}

TEST_F(LeaseTest, EveryCommandSaysTheSameOfANameThatHoldsSomethingElse) {
  tests::RedisServer server;
  tests::RedisClient client(server.port());
  client.run({"RPUSH", "job", "data"});
  const std::string nobody(32, '1');
  for (const Words& words :
       {Words{"acquire", "-n", "job"}, Words{"run", "-n", "job", "true"}, Words{"show", "job"},
        Words{"wait", "-n", "job"}, Words{"steal", "job", "--confirm", "job"},
        Words{"elect", "job", "true"}, Words{"release", "job", nobody}}) {
    Words all{"--store", server.url()};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = holdfast(all);
    EXPECT_EQ(outcome.status, 69) << words[0];
    EXPECT_EQ(outcome.errors,
              "holdfast: job cannot be locked: a key of that name holds something that is not "
              "Holdfast's; it is left as it is: choose another name, or a prefix (WRONGTYPE "
              "Operation against a key holding the wrong kind of value)\n")
        << words[0];
  }
  EXPECT_EQ(client.run({"LRANGE", "job", "0", "-1"}), "[data]");
}

TEST_F(LeaseTest, AClaimThatDoesNotFitTheHoldersIsStillAMistake) {
  acquire({"--permits", "1/3", "job"});
  EXPECT_EQ(holdfast({"acquire", "-n", "--permits", "1/2", "job"}).status, 64);
}

TEST_F(LeaseTest, StealWantsTheNameTwice) {
  const std::string lease = acquire({"--ttl", "1h", "job"});
  EXPECT_EQ(holdfast({"steal", "job"}).status, 64);
  EXPECT_EQ(holdfast({"steal", "job", "--confirm", "other"}).status, 64);
  EXPECT_EQ(json({"show", "--json", "job"})["held"], true);
}

TEST_F(LeaseTest, WaitEndsWhenTheNameIsFree) {
  EXPECT_EQ(holdfast({"wait", "job"}).status, 0);
  const std::string lease = acquire({"--ttl", "1h", "job"});
  EXPECT_EQ(holdfast({"wait", "-n", "job"}).status, 75);
  EXPECT_EQ(holdfast({"wait", "-w", "50ms", "job"}).status, 75);
  const auto waiter = start({"wait", "-v", "--json", "job"});
  EXPECT_TRUE(waiter->read_error_line().starts_with("{\"event\":\"waiting\""));
  holdfast({"release", "job", lease});
  EXPECT_EQ(waiter->wait(), 0);
  EXPECT_EQ(nlohmann::json::parse(waiter->rest_of_output())["free"], true);
}

TEST_F(LeaseTest, WaitEndsWhenTheLeaseIsOver) {
  acquire({"--ttl", "300ms", "job"});
  EXPECT_EQ(holdfast({"wait", "-w", "60s", "job"}).status, 0);
}

TEST_F(LeaseTest, ASignalEndsWait) {
  acquire({"--ttl", "1h", "job"});
  const auto waiter = start({"wait", "-v", "job"});
  EXPECT_TRUE(starts_with_match(waiter->read_error_line(), "holdfast: waiting [0-9]+[sm]"));
  waiter->signal(SIGINT);
  EXPECT_EQ(waiter->wait(), 128 + SIGINT);
}

TEST_F(LeaseTest, LsListsWhatIsHeldAndBeginsWithThePrefix) {
  EXPECT_EQ(holdfast({"ls"}).output, "");
  acquire({"--ttl", "1h", "--owner", "ci@host:41", "--reason", "deploy 812", "db/users"});
  acquire({"--ttl", "1h", "--owner", "me", "web\nlog"});
  std::istringstream lines(holdfast({"ls"}).output);
  std::string heading;
  std::string first;
  std::string second;
  std::getline(lines, heading);
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_TRUE(heading.starts_with("NAME        HELD BY           FOR")) << heading;
  EXPECT_TRUE(first.starts_with("db/users    ci@host (pid 41)  ")) << first;
  EXPECT_TRUE(first.ends_with("deploy 812")) << first;
  EXPECT_TRUE(second.starts_with("web\\x0alog  me ")) << second;

  const auto names = json({"ls", "--json", "db/"})["names"];
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0]["name"], "db/users");
}

}  // namespace

}  // namespace holdfast::cli::testing
