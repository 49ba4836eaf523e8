#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

// Scripts that call the program as "$0".
class HoldTest : public Workspace {
 protected:
  [[nodiscard]] static Words script(const std::string& text, const std::string& shell = "sh") {
    return {shell, "-c", text, HOLDFAST_BINARY};
  }
  Outcome run_script(const std::string& text) { return run_to_end(script(text), environment()); }

  // Starts a script that holds `job`, says so and reads a line.
  std::unique_ptr<Process> start_script(const std::string& options, const std::string& shell) {
    auto process =
        std::make_unique<Process>(script("eval \"$(\"$0\" hold " + options +
                                             " job)\" || exit; echo $HOLDFAST_TOKEN; read line",
                                         shell),
                                  environment());
    EXPECT_GT(std::stoull("0" + process->read_line()), 0U) << process->rest_of_errors();
    return process;
  }

  bool is_held() { return json({"show", "--json", "job"})["held"] == true; }
};

TEST_F(HoldTest, AScriptHoldsTheNameUntilItEnds) {
  for (const char* const shell : {"sh", "bash"}) {
    const auto process = start_script("--ttl 1h", shell);
    const auto state = json({"show", "--json", "job"});
    EXPECT_EQ(state["held"], true);
    const std::string owner = state["holders"][0]["owner"];
    EXPECT_TRUE(owner.ends_with(":" + std::to_string(process->id()))) << owner;
    process->close_input();
    process->wait();
    EXPECT_TRUE(eventually([&] { return !is_held(); })) << shell;
  }
}

TEST_F(HoldTest, AScriptThatIsKilledHoldsNothing) {
  const auto process = start_script("--ttl 1h", "sh");
  process->signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_held(); }));
}

TEST_F(HoldTest, TheLeaseIsRenewed) {
  const auto process = start_script("--ttl 3s", "sh");
  const auto state = json({"show", "--json", "job"});
  ASSERT_EQ(state["held"], true);
  // Past its ttl it is held only because it was renewed.
  EXPECT_TRUE(eventually([&] {
    const auto later = json({"show", "--json", "job"});
    return later["held"] != true || later["holders"][0]["held_for_ms"] > 3100;
  }));
  const auto later = json({"show", "--json", "job"});
  ASSERT_EQ(later["held"], true);
  EXPECT_EQ(later["holders"][0]["lease_id"], state["holders"][0]["lease_id"]);
}

TEST_F(HoldTest, AScriptMayReleaseItEarlier) {
  const Outcome outcome = run_script(
      "eval \"$(\"$0\" hold job)\" && \"$0\" release && \"$0\" wait -n job && echo free;"
      "\"$0\" release; echo $?");
  EXPECT_TRUE(outcome.output.starts_with("free\n")) << outcome.output << outcome.errors;
  EXPECT_TRUE(outcome.output.ends_with("79\n")) << outcome.output;
  EXPECT_EQ(outcome.errors.find("lost"), std::string::npos) << outcome.errors;
}

TEST_F(HoldTest, ACommandOfRunCannotReleaseIt) {
  const Outcome outcome = run_script(
      "eval \"$(\"$0\" hold --ttl 1h job)\" || exit;"
      "\"$0\" run other -- \"$0\" release 2>/dev/null; echo $?;"
      "\"$0\" wait -n job 2>/dev/null; echo $?");
  EXPECT_EQ(outcome.output, "64\n75\n") << outcome.errors;
}

TEST_F(HoldTest, ALeaseThatWasReplacedDoesNotEndTheKeeper) {
  const Outcome outcome = run_script(
      "eval \"$(\"$0\" hold --ttl 1h job)\" || exit;"
      "HOLDFAST_LEASE=0123456789abcdef0123456789abcdef \"$0\" release 2>/dev/null; echo $?;"
      "kill -0 $HOLDFAST_KEEPER && echo lives");
  EXPECT_EQ(outcome.output, "79\nlives\n") << outcome.errors;
}

TEST_F(HoldTest, AScriptThatIgnoresTermMayReleaseIt) {
  const Outcome outcome =
      run_script("trap '' TERM; eval \"$(\"$0\" hold --ttl 1h job)\" && \"$0\" release && echo $?");
  EXPECT_EQ(outcome.output, "0\n") << outcome.errors;
}

TEST_F(HoldTest, AnUpgradedProgramEndsTheKeeper) {
  const std::string old = (folder() / "holdfast").string();
  std::filesystem::copy_file(HOLDFAST_BINARY, old);
  // The keeper may be a zombie for a while.
  const Outcome outcome =
      run_script("eval \"$(" + old + " hold --ttl 1h job)\" && rm " + old +
                 " && \"$0\" release || exit;"
                 "grep -q '^State:.[^ZX]' /proc/$HOLDFAST_KEEPER/status 2>/dev/null || echo ended");
  EXPECT_EQ(outcome.output, "ended\n") << outcome.errors;
  EXPECT_FALSE(is_held());
}

TEST_F(HoldTest, WhatAKeeperThatDoesNotEndHoldsIsNotReleased) {
  const Outcome outcome = run_script(
      "eval \"$(\"$0\" hold --ttl 1h job)\" || exit; kill -STOP $HOLDFAST_KEEPER;"
      "\"$0\" release; echo $?; \"$0\" wait -n job 2>/dev/null; echo $?;"
      "kill -CONT $HOLDFAST_KEEPER");
  EXPECT_EQ(outcome.output, "69\n75\n") << outcome.errors;
}

TEST_F(HoldTest, WhatCannotBeHeldFailsTheEval) {
  holdfast({"acquire", "--ttl", "1h", "job"});
  EXPECT_EQ(run_script("eval \"$(\"$0\" hold -n job)\"").status, 75);
  EXPECT_EQ(run_script("eval \"$(\"$0\" hold)\"").status, 64);
  EXPECT_EQ(run_script("eval \"$(\"$0\" hold --store sqlite:/no/such/folder/x.db job)\"").status,
            69);
}

TEST_F(HoldTest, AWaitThatASignalEndsLeavesNoWaiterBehind) {
  const auto waiters = [&] { return json({"show", "--json", "job"})["waiters"]; };
  holdfast({"acquire", "--ttl", "1h", "job"});
  const auto waiting = start({"hold", "-q", "--for", std::to_string(getpid()), "job"});
  EXPECT_TRUE(eventually([&] { return waiters().size() == 1; }));
  waiting->signal(SIGTERM);
  EXPECT_EQ(waiting->wait(), 128 + SIGTERM);
  EXPECT_TRUE(eventually([&] { return waiters().empty(); }));
}

TEST_F(HoldTest, ACallerThatHasEndedFailsTheEval) {
  const std::string text = "eval \"$(\"$0\" hold --ttl 1h job; true)\" || exit; echo held";
  const Outcome outcome = run_to_end(script(text, "bash"), environment());
  EXPECT_EQ(outcome.status, 64) << outcome.errors;
  EXPECT_EQ(outcome.output, "");
  EXPECT_NE(outcome.errors.find("use hold --for $$"), std::string::npos) << outcome.errors;
  EXPECT_TRUE(eventually([&] { return !is_held(); }));
}

TEST_F(HoldTest, ASubshellHoldsTheName) {
  const Outcome outcome = run_script(
      "(eval \"$(\"$0\" hold --ttl 1h job)\" && \"$0\" wait -n job 2>/dev/null; echo $?)");
  EXPECT_EQ(outcome.output, "75\n") << outcome.errors;
}

// A limit so low that the program does not even start is not ours to report.
TEST_F(HoldTest, AProcessWithoutDescriptorsFailsTheEval) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer ends a program that has no descriptors left";
#endif
  const Outcome outcome = run_script(
      "for n in 4 5 6 7 8 9; do"
      " (ulimit -n $n; \"$0\" --version) >/dev/null 2>&1 || continue; ("
      "eval \"$(ulimit -n $n; \"$0\" hold -n --for $$ job)\" && [ -z \"$HOLDFAST_LEASE\" ] &&"
      "echo $n); done");
  EXPECT_EQ(outcome.output, "") << outcome.errors;
}

TEST_F(HoldTest, WhatCannotBePrintedIsReleased) {
  EXPECT_EQ(run_script("\"$0\" hold --ttl 1h job >/dev/full").status, 74);
  EXPECT_FALSE(is_held());
}

TEST_F(HoldTest, AScriptWhoseLeaseIsStolenGetsTerm) {
  Process process(script("trap 'echo TERM; exit 3' TERM; eval \"$(\"$0\" hold --ttl 600ms job)\";"
                         "echo ready; while :; do sleep 0.02; done"),
                  environment());
  EXPECT_EQ(process.read_line(), "ready");
  holdfast({"steal", "job", "--confirm", "job"});
  EXPECT_EQ(process.read_line(), "TERM");
  EXPECT_EQ(process.wait(), 3);
  EXPECT_NE(process.rest_of_errors().find("lost job"), std::string::npos);
}

TEST_F(HoldTest, ACommandOfTheScriptDoesNotWaitForTheScript) {
  EXPECT_EQ(run_script("eval \"$(\"$0\" hold job)\"; \"$0\" run job -- true").status, 64);
}

TEST_F(HoldTest, NamesAndOwnersAreQuoted) {
  const Outcome outcome = run_script(
      "eval \"$(\"$0\" hold --owner \"it's \\$HOME\" \"a'b \\$(false)\")\";"
      "echo \"$HOLDFAST_NAME|$HOLDFAST_OWNER\"");
  EXPECT_EQ(outcome.output, "a'b $(false)|it's $HOME\n");
}

TEST_F(HoldTest, JsonHasTheDocumentedKeys) {
  const Outcome outcome = run_script("\"$0\" hold --json --ttl 1h job; true");
  const auto held = nlohmann::json::parse(outcome.output);
  for (const char* const key : {"name", "lease_id", "token", "owner", "ttl_ms", "keeper"}) {
    EXPECT_TRUE(held.contains(key)) << key;
  }
}

}  // namespace

}  // namespace holdfast::cli::testing
