#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

TEST_F(WhyTest, ShowNamesWhatEachRecipeKeepsUnderAName) {
  EXPECT_EQ(holdfast({"throttle", "--limit", "9", "--per", "1h", "job"}).status, 0);
  EXPECT_EQ(holdfast({"once", "--per", "1h", "job", "--", "true"}).status, 0);
  EXPECT_EQ(holdfast({"mark", "job", "--ttl", "1h"}).status, 0);
  const Outcome shown = holdfast({"show", "job"});
  EXPECT_NE(shown.output.find("\nonce        has run in this period by "), std::string::npos)
      << shown.output;
  EXPECT_NE(shown.output.find("\nthrottle    1 passed in this window"), std::string::npos);
  EXPECT_NE(shown.output.find("\nmark        set by "), std::string::npos);
  const auto all = json({"show", "--json", "job"});
  EXPECT_EQ(all["throttle"]["hits"], 1);
  EXPECT_EQ(all["once"]["reason"], "has run in this period");
  EXPECT_FALSE(all["mark"].is_null());
}

TEST_F(WhyTest, ShowSaysOfWhichKindANameIs) {
  EXPECT_EQ(holdfast({"throttle", "--sliding", "--limit", "9", "--per", "1h", "api"}).status, 0);
  EXPECT_EQ(holdfast({"once", "--per", "1h", "nightly", "--", "true"}).status, 0);
  EXPECT_EQ(holdfast({"mark", "key", "--ttl", "1h"}).status, 0);
  const auto lock = start_holder({"job"});
  const auto leader = start({"elect", "post", "--", "sh", "-c", "echo ready; read line"});
  EXPECT_EQ(leader->read_line(), "ready");
  const std::vector<std::pair<std::string, std::string>> kinds = {{"throttle/api", "throttle"},
                                                                  {"once/nightly", "once"},
                                                                  {"mark/key", "mark"},
                                                                  {"job", "lock"},
                                                                  {"post", "election"}};
  for (const auto& [name, kind] : kinds) {
    EXPECT_EQ(json({"show", "--json", name})["kind"], kind);
    const Outcome shown = holdfast({"show", name});
    EXPECT_NE(shown.output.find("\nkind        " + kind + "\n"), std::string::npos) << shown.output;
  }
  EXPECT_EQ(json({"show", "--json", "throttle/api"})["throttle"]["hits"], 1);
  EXPECT_TRUE(json({"show", "--json", "throttle/none"})["kind"].is_null());
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

TEST_F(WhyTest, WaitersAreListedAndShownAsLongAsTheyWait) {
  const auto holder = start_holder({"job"});
  const auto waiter =
      start({"run", "-q", "--owner", "ci", "--reason", "deploy 812", "job", "--", "true"});
  EXPECT_TRUE(eventually([&] { return !json({"show", "--json", "job"})["waiters"].empty(); }));
  const Outcome list = holdfast({"ls"});
  EXPECT_NE(list.output.find("waiting"), std::string::npos) << list.output;
  EXPECT_EQ(json({"ls", "--json"})["names"].size(), 1U) << list.output;
  const Outcome shown = holdfast({"show", "job"});
  EXPECT_NE(shown.output.find("waiting     ci \"deploy 812\" for "), std::string::npos)
      << shown.output;
  EXPECT_EQ(json({"show", "--json", "job"})["waiters"][0]["owner"], "ci");
  const Outcome why = holdfast({"why", "job"});
  EXPECT_NE(why.output.find("\nwaiting: ci \"deploy 812\" for "), std::string::npos) << why.output;
  EXPECT_EQ(why.output.find("deadlock"), std::string::npos) << why.output;
  EXPECT_EQ(holder->wait(), 0);
  EXPECT_EQ(waiter->wait(), 0);
  EXPECT_TRUE(json({"ls", "--json"})["names"].empty());
  EXPECT_TRUE(json({"show", "--json", "job"})["waiters"].empty());
}

TEST_F(WhyTest, AWaiterThatWantsToShareAHeldNameIsListedToo) {
  const auto holder = start_holder({"job"});
  const auto waiter = start({"run", "-q", "-s", "--owner", "reader", "job", "--", "true"});
  EXPECT_TRUE(eventually([&] { return !json({"show", "--json", "job"})["waiters"].empty(); }));
  EXPECT_EQ(json({"show", "--json", "job"})["waiters"][0]["owner"], "reader");
  EXPECT_EQ(holder->wait(), 0);
  EXPECT_EQ(waiter->wait(), 0);
  EXPECT_TRUE(json({"ls", "--json"})["names"].empty());
}

TEST_F(WhyTest, AWaiterThatIsInterruptedIsNotListedAnyMore) {
  const auto holder = start_holder({"job"});
  const auto waiter = start({"run", "-q", "job", "--", "true"});
  EXPECT_TRUE(eventually([&] { return !json({"show", "--json", "job"})["waiters"].empty(); }));
  waiter->signal(SIGINT);
  EXPECT_EQ(waiter->wait(), 128 + SIGINT);
  EXPECT_TRUE(json({"show", "--json", "job"})["waiters"].empty());
}

class DeadlockTest : public Workspace {
 protected:
  // Starts processes that each hold one name, and run another that waits for the next one's.
  std::vector<std::unique_ptr<Process>> start_circle(int size) {
    std::vector<std::unique_ptr<Process>> circle;
    for (int i = 0; i < size; ++i) {
      circle.push_back(start({"run", "n" + std::to_string(i), "--", "sh", "-c",
                              "echo ready; read line; \"$0\" run -q n" +
                                  std::to_string((i + 1) % size) + " -- true; read line; true",
                              HOLDFAST_BINARY}));
      EXPECT_EQ(circle.back()->read_line(), "ready");
    }
    for (const auto& process : circle) {
      process->write("go\n");
    }
    return circle;
  }
  // Returns what `why` says of a deadlock, once every one of so many waiters is to be seen.
  nlohmann::json deadlock_among(std::size_t size) {
    EXPECT_TRUE(eventually([&] {
      std::size_t seen = 0;
      const auto list = json({"ls", "--json"});
      for (const auto& name : list["names"]) {
        seen += name["waiters"].size();
      }
      return seen == size;
    }));
    nlohmann::json deadlock;
    EXPECT_TRUE(eventually([&] {
      deadlock = json({"why", "--json", "n0"})["deadlock"];
      return !deadlock.empty();
    }));
    return deadlock;
  }
};

TEST_F(DeadlockTest, ProcessesThatWaitForEachOtherAreNamedUntilOneIsEnded) {
  const auto circle = start_circle(2);
  EXPECT_EQ(deadlock_among(2).size(), 2U);
  const Outcome why = holdfast({"why", "n1"});
  EXPECT_NE(why.output.find("deadlock of 2: "), std::string::npos) << why.output;
  EXPECT_NE(why.output.find(" holds n0 and has waited "), std::string::npos) << why.output;
  EXPECT_NE(why.output.find(" holds n1 and has waited "), std::string::npos) << why.output;
  circle[0]->signal(SIGTERM);
  EXPECT_EQ(circle[1]->wait(), 0);
  EXPECT_EQ(holdfast({"why", "n1"}).output, "n1 is free\n");
}

TEST_F(DeadlockTest, SixteenProcessesAreNamedInTheOrderInWhichTheyWait) {
  const auto circle = start_circle(16);
  const auto deadlock = deadlock_among(16);
  ASSERT_EQ(deadlock.size(), 16U);
  for (std::size_t i = 0; i < deadlock.size(); ++i) {
    EXPECT_EQ(deadlock[i]["name"], deadlock[(i + 1) % deadlock.size()]["holds"]);
  }
  for (const auto& process : circle) {
    process->signal(SIGTERM);
  }
}

TEST_F(DeadlockTest, AWaiterThatWasKilledIsNoPartOfOne) {
  const auto circle = start_circle(2);
  EXPECT_EQ(deadlock_among(2).size(), 2U);
  // Only the process that waits: the command around it goes on, and so does its lease.
  const auto victim = json({"why", "--json", "n0"})["waiters"][0]["owner"].get<std::string>();
  const int id = std::stoi(victim.substr(victim.rfind(':') + 1));
  ASSERT_GT(id, 1);
  ASSERT_EQ(kill(id, SIGSTOP), 0);
  EXPECT_TRUE(eventually([&] { return json({"why", "--json", "n0"})["deadlock"].empty(); }));
  ASSERT_EQ(kill(id, SIGKILL), 0);
  EXPECT_TRUE(json({"why", "--json", "n0"})["deadlock"].empty());
  circle[0]->signal(SIGTERM);
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

TEST_F(ResetTest, AThrottleOfEitherWindowPassesAgain) {
  Words pass{"throttle", "-n", "--limit", "1", "--per", "1h", "api"};
  for (int window = 0; window < 2; ++window) {
    EXPECT_EQ(holdfast(pass).status, 0);
    EXPECT_EQ(holdfast(pass).status, 75);
    EXPECT_EQ(holdfast({"reset", "api"}).output, "1 of the throttle api are forgotten\n");
    EXPECT_EQ(holdfast(pass).status, 0);
    EXPECT_EQ(json({"reset", "--json", "api"})["hits"], 1);
    pass.insert(pass.begin() + 1, "--sliding");
  }
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
