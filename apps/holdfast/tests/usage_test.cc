#include <csignal>

#include "apps/holdfast/tests/pty.h"
#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class UsageTest : public Workspace {
 protected:
  std::string mistake(const Words& words) {
    const Outcome outcome = holdfast(words);
    EXPECT_EQ(outcome.status, 64) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    return outcome.errors;
  }
};

TEST_F(UsageTest, AWordThatIsAlmostRightIsNamed) {
  EXPECT_TRUE(mistake({"rnu", "job", "--", "true"})
                  .starts_with("holdfast: there is no command 'rnu': did you mean run?\n"));
  EXPECT_TRUE(mistake({"run", "--tll", "5s", "job", "--", "true"})
                  .starts_with("holdfast run: there is no option --tll: did you mean --ttl?\n"));
  EXPECT_TRUE(mistake({"show", "--jsno", "job"})
                  .starts_with("holdfast show: there is no option --jsno: did you mean --json?\n"));
  EXPECT_TRUE(mistake({"backup"}).starts_with("holdfast: there is no command 'backup'\n"));
}

TEST_F(UsageTest, HelpOfACommandIsItsHelp) {
  EXPECT_EQ(holdfast({"help", "run"}).output, holdfast({"run", "--help"}).output);
  EXPECT_EQ(holdfast({"help"}).output, holdfast({"--help"}).output);
  EXPECT_EQ(holdfast({"help", "run"}).status, 0);
  mistake({"help", "no-such-command"});
}

TEST_F(UsageTest, TheVersionHasAShortOption) {
  EXPECT_EQ(holdfast({"-V"}).output, "holdfast " HOLDFAST_VERSION "\n");
}

TEST_F(UsageTest, AnOptionOfEveryCommandCountsBeforeAndAfterItsName) {
  for (const Words& words :
       {Words{"-v", "run", "job", "--", "true"}, Words{"run", "-v", "job", "--", "true"}}) {
    EXPECT_TRUE(holdfast(words).errors.starts_with("holdfast: acquired job with token "));
  }
  // With the time and details.
  EXPECT_NE(holdfast({"-v", "run", "-v", "job", "--", "true"}).errors.find("debug: acquired job"),
            std::string::npos);
}

TEST_F(UsageTest, MistakesAreJsonWhereJsonIsAskedFor) {
  for (const Words& words : {Words{"--json", "rnu"}, Words{"run", "--json", "--tll", "job"},
                             Words{"--json", "run", "job"}, Words{"run", "-n", "--json", "job"},
                             Words{"--json", "--store", "memory:", "ls"}}) {
    const auto error = nlohmann::json::parse(mistake(words), nullptr, false);
    EXPECT_EQ(error["error"]["code"], "invalid_argument") << error;
    EXPECT_TRUE(error["error"]["message"].is_string()) << error;
  }
  // That is another command's option.
  EXPECT_TRUE(
      mistake({"run", "-w", "soon", "job", "--", "true", "--json"}).starts_with("holdfast run: "));
}

TEST_F(UsageTest, ASecondNameBeforeTheDashesIsAMistake) {
  EXPECT_TRUE(mistake({"run", "x", "y", "--", "true"})
                  .starts_with("holdfast run: unexpected argument 'y'"));
  EXPECT_EQ(holdfast({"run", "x", "echo", "y"}).output, "y\n");
  EXPECT_EQ(holdfast({"run", "x", "--", "echo", "--", "y"}).output, "-- y\n");
}

TEST_F(UsageTest, AThrottleShowsItsWait) {
  const Words words{"throttle", "--limit", "1", "--per", "1h", "job"};
  EXPECT_EQ(holdfast(words).status, 0);
  const auto waiter = start(words);
  const std::string wait = "waiting [0-9]+[sm] for job · throttled · may pass in [0-9]+m";
  EXPECT_TRUE(starts_with_match(waiter->read_error_line(), "holdfast: " + wait));
  waiter->signal(SIGTERM);
  EXPECT_EQ(waiter->wait(), 128 + SIGTERM);
  Pty terminal(command(words), environment());
  terminal.expect_match(wait);
  terminal.type("\x03");
  EXPECT_EQ(terminal.wait(), 128 + SIGINT);
  EXPECT_EQ(json({"why", "--json", "job"})["throttle"]["hits"], 1) << "an ended wait is no pass";
}

TEST_F(UsageTest, TheCommandOfAThrottleGetsItsSignals) {
  EXPECT_EQ(holdfast({"throttle", "--limit", "1", "--per", "1h", "job", "--", "grep", "-c",
                      "SigBlk:\t0000000000000000", "/proc/self/status"})
                .output,
            "1\n");
}

}  // namespace

}  // namespace holdfast::cli::testing
