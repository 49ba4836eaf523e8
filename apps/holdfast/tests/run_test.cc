#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class RunTest : public Workspace {};

TEST_F(RunTest, PassesTheStatusOfTheCommandThrough) {
  EXPECT_EQ(holdfast({"run", "job", "--", "true"}).status, 0);
  EXPECT_EQ(holdfast({"run", "job", "--", "sh", "-c", "exit 42"}).status, 42);
  EXPECT_EQ(holdfast({"run", "job", "--", "sh", "-c", "kill -KILL $$"}).status, 128 + SIGKILL);
}

TEST_F(RunTest, PassesInputAndArgumentsThroughUnread) {
  const Outcome outcome = holdfast({"run", "job", "--", "sh", "-c", "cat; printf '<%s>' \"$@\"",
                                    "sh", "a b", "--", "-n", "[1,2]", ""},
                                   "from outside\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "from outside\n<a b><--><-n><[1,2]><>");
}

TEST_F(RunTest, TakesTheCommandWithoutTheTwoDashesToo) {
  EXPECT_EQ(holdfast({"run", "job", "printf", "%s", "-n"}).output, "-n");
}

TEST_F(RunTest, TellsTheCommandWhatItHolds) {
  const Outcome outcome =
      holdfast({"run", "--owner", "ci", "a name", "--", "sh", "-c",
                "echo \"$HOLDFAST_NAME|$HOLDFAST_OWNER|$HOLDFAST_STORE|$HOLDFAST_TOKEN\""});
  const std::string expected = "a name|ci|" + store_url() + "|";
  EXPECT_TRUE(outcome.output.starts_with(expected)) << outcome.output;
  EXPECT_GT(std::stoull(outcome.output.substr(expected.size())), 0U);
}

TEST_F(RunTest, ReplacesTheVariablesOfAnOuterRun) {
  const Outcome outcome = holdfast({"run", "outer", "--", HOLDFAST_BINARY, "run", "inner", "--",
                                    "sh", "-c", "env | grep -c '^HOLDFAST_NAME=inner'"});
  EXPECT_EQ(outcome.output, "1\n");
}

TEST_F(RunTest, RefusesToWaitForACommandThatItRunsUnder) {
  const Words inner{HOLDFAST_BINARY, "run", "a", "--", "echo", "inner"};
  for (const Words& outer :
       {Words{"run", "a", "--"}, Words{"run", "a", "--", HOLDFAST_BINARY, "run", "b", "--"},
        Words{"elect", "a", "--"}}) {
    Words words = outer;
    words.insert(words.end(), inner.begin(), inner.end());
    const Outcome outcome = holdfast(words);
    EXPECT_EQ(outcome.status, 64) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    EXPECT_NE(outcome.errors.find("a is held by a command that this one runs under"),
              std::string::npos)
        << outcome.errors;
  }
  EXPECT_EQ(holdfast({"run", "a", "--", HOLDFAST_BINARY, "wait", "a"}).status, 64);
}

TEST_F(RunTest, MayHoldANameTwiceWhereThereIsRoom) {
  for (const Words& how : {Words{"-s"}, Words{"--permits", "1/2"}}) {
    Words words{"run"};
    words.insert(words.end(), how.begin(), how.end());
    words.insert(words.end(), {"a", "--", HOLDFAST_BINARY, "run"});
    words.insert(words.end(), how.begin(), how.end());
    words.insert(words.end(), {"a", "--", "echo", "inner"});
    EXPECT_EQ(holdfast(words).output, "inner\n");
  }
  EXPECT_EQ(holdfast({"run", "a", "--", HOLDFAST_BINARY, "run", "-n", "a", "--", "true"}).status,
            75);
}

TEST_F(RunTest, TokensGrowFromRunToRun) {
  const Words words{"run", "job", "--", "sh", "-c", "echo $HOLDFAST_TOKEN"};
  const auto first = std::stoull(holdfast(words).output);
  const auto second = std::stoull(holdfast(words).output);
  EXPECT_GT(second, first);
}

TEST_F(RunTest, ReleasesWhenTheCommandHasEnded) {
  holdfast({"run", "job", "--", "false"});
  EXPECT_EQ(json({"show", "--json", "job"})["held"], false);
}

TEST_F(RunTest, EndsWith127IfThereIsNoSuchCommandAndWith126IfItCannotBeExecuted) {
  const Outcome missing = holdfast({"run", "job", "--", "no-such-command"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_NE(missing.errors.find("no-such-command"), std::string::npos);
  EXPECT_EQ(holdfast({"run", "job", "--", "/no/such/command"}).status, 127);

  const auto file = folder() / "not-executable";
  std::ofstream(file) << "#!/bin/sh\n";
  EXPECT_EQ(holdfast({"run", "job", "--", file.string()}).status, 126);
  EXPECT_EQ(holdfast({"run", "job", "--", folder().string()}).status, 126);
  EXPECT_EQ(json({"show", "--json", "job"})["held"], false);
}

// With a little more than it needs to acquire the lock, it has no descriptors left to start a
// process with.
TEST_F(RunTest, SaysThatThereIsNoProcessForTheCommand) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer ends a program that has no descriptors left";
#endif
  int without_process = 0;
  for (int limit = 4; limit < 40; ++limit) {
    const Outcome outcome = run_to_end({"sh", "-c",
                                        "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n " +
                                            std::to_string(limit) + "; exec \"$0\" run job -- true",
                                        HOLDFAST_BINARY},
                                       environment());
    EXPECT_FALSE(outcome.errors.contains("cannot execute")) << outcome.errors;
    if (outcome.errors.contains("cannot start a process for true: Too many open files")) {
      EXPECT_EQ(outcome.status, 126);
      ++without_process;
    }
  }
  EXPECT_GT(without_process, 0);
  EXPECT_EQ(json({"show", "--json", "job"})["held"], false);
}

TEST_F(RunTest, LeavesNoDescriptorOfItsOwnToTheCommand) {
  const Outcome plain = run_to_end({"ls", "/proc/self/fd"}, environment());
  EXPECT_EQ(holdfast({"run", "job", "--", "ls", "/proc/self/fd"}).output, plain.output);
}

TEST_F(RunTest, LeavesSignalsToTheCommandAsItFoundThem) {
  const Outcome outcome =
      run_to_end({"env", "--ignore-signal=USR1", "--block-signal=USR2", HOLDFAST_BINARY, "run",
                  "job", "--", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"},
                 environment());
  // USR2 is the twelfth signal, USR1 the tenth. What is beyond the 31st is the C library's.
  EXPECT_NE(outcome.output.find("SigBlk:\t0000000000000800\n"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("0000200\n"), std::string::npos) << outcome.output;
}

TEST_F(RunTest, RunsTheCommandInAProcessGroupOfItsOwn) {
  const Outcome outcome = holdfast({"run", "job", "--", "sh", "-c",
                                    "test \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ && echo leader"});
  EXPECT_EQ(outcome.output, "leader\n");
}

TEST_F(RunTest, MakesTheDefaultStoreForTheUserAlone) {
  EXPECT_EQ(holdfast({"run", "job", "--", "true"}).status, 0);
  struct stat status{};
  ASSERT_EQ(stat((folder() / ".local/state/holdfast").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST_F(RunTest, FindsTheStoreByOptionThenEnvironmentThenStateFolder) {
  const Words words{"run", "job", "--", "sh", "-c", "echo $HOLDFAST_STORE"};
  environment()["XDG_STATE_HOME"] = (folder() / "odd %41 state?").string();
  EXPECT_EQ(holdfast(words).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder() / "odd %41 state?/holdfast/locks.db"));

  const std::string one = "sqlite:" + (folder() / "one.db").string();
  const std::string two = "sqlite:" + (folder() / "two.db").string();
  environment()["HOLDFAST_STORE"] = one;
  EXPECT_EQ(holdfast(words).output, one + "\n");
  Words with_option{"--store", two};
  with_option.insert(with_option.end(), words.begin(), words.end());
  EXPECT_EQ(holdfast(with_option).output, two + "\n");
}

TEST_F(RunTest, HandsTheCommandTheStoreWithoutItsSecretsUnlessAsked) {
  const std::string url = "sqlite:" + (folder() / "one.db").string() + "?retention=2h";
  environment()["HOLDFAST_STORE"] = url;
  const Words words{"job", "--", "sh", "-c", "echo $HOLDFAST_STORE"};
  const auto run = [&](Words before) {
    before.insert(before.end(), words.begin(), words.end());
    return holdfast(before).output;
  };
  EXPECT_EQ(run({"run"}), url + "\n");
  EXPECT_EQ(run({"run", "--pass-password"}), url + "\n");
  tests::RedisServer server({.arguments = {"--requirepass", "secret"}});
  const std::string at = "@127.0.0.1:" + std::to_string(server.port());
  environment().erase("HOLDFAST_STORE");
  EXPECT_EQ(run({"--store", "redis://:secret" + at, "run"}), "redis://:***" + at + "\n");
  EXPECT_EQ(run({"--store", "redis://:secret" + at, "run", "--pass-password"}),
            "redis://:secret" + at + "\n");
}

TEST_F(RunTest, HidesThePasswordOfAUrlFromTheEnvironment) {
  tests::RedisServer server({.arguments = {"--requirepass", "secret"}});
  const std::string at = "@127.0.0.1:" + std::to_string(server.port());
  environment()["HOLDFAST_STORE"] = "redis://:secret" + at;
  const Words script{"job", "--", "sh", "-c", "env | grep -h secret; echo $HOLDFAST_STORE"};
  const auto run = [&](Words words) {
    words.insert(words.end(), script.begin(), script.end());
    return holdfast(words).output;
  };
  EXPECT_EQ(run({"run"}), "redis://:***" + at + "\n");
  EXPECT_EQ(run({"run", "--pass-password"}),
            "HOLDFAST_STORE=redis://:secret" + at + "\nredis://:secret" + at + "\n");
  for (const Words& words : {Words{"doctor"}, Words{"bench", "--count", "1"}, Words{"ls", "-v"}}) {
    const Outcome outcome = holdfast(words);
    EXPECT_EQ(outcome.status, 0) << words.front() << outcome.errors;
    EXPECT_EQ((outcome.output + outcome.errors).find("secret"), std::string::npos) << words.front();
  }
  environment()["HOLDFAST_STORE"] = "redis://:wrong-secret" + at;
  const Outcome refused = holdfast({"ls", "-v"});
  EXPECT_EQ(refused.status, 69);
  EXPECT_EQ((refused.output + refused.errors).find("secret"), std::string::npos) << refused.errors;
}

TEST_F(RunTest, SummarisesAsJsonOnTheErrorStream) {
  const Outcome outcome = holdfast({"run", "--json", "job", "--", "sh", "-c", "echo out; exit 3"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.output, "out\n");
  const auto summary = nlohmann::json::parse(outcome.errors);
  EXPECT_EQ(summary["name"], "job");
  EXPECT_EQ(summary["command_status"], 3);
  EXPECT_EQ(summary["lost"], false);
  EXPECT_TRUE(summary["token"].is_number_unsigned());
  EXPECT_EQ(summary["lease_id"].get<std::string>().size(), 32U);
  EXPECT_TRUE(summary.contains("owner"));
}

}  // namespace

}  // namespace holdfast::cli::testing
