#include <csignal>

#include "apps/holdfast/tests/pty.h"
#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

constexpr const char* kInterrupt = "\x03";
constexpr const char* kSuspend = "\x1a";
constexpr const char* kErase = "\r\033[K";
constexpr const char* kWaiting = "waiting [0-9]+[sm]";

class TerminalTest : public Workspace {
 protected:
  // `holdfast run job -- sh -c SCRIPT` on a terminal.
  std::unique_ptr<Pty> run(const std::string& script) {
    return std::make_unique<Pty>(command({"run", "job", "--", "sh", "-c", script}), environment());
  }
};

TEST_F(TerminalTest, TheCommandReadsFromTheTerminal) {
  const auto terminal = run("echo ready; read line; echo \"got $line\"");
  terminal->expect("ready");
  terminal->type("hello\n");
  terminal->expect("got hello");
  EXPECT_EQ(terminal->wait(), 0);
}

TEST_F(TerminalTest, AnInterruptGoesToTheCommand) {
  const auto terminal =
      run("trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.02; done");
  terminal->expect("ready");
  terminal->type(kInterrupt);
  terminal->expect("interrupted");
  EXPECT_EQ(terminal->wait(), 7);
}

TEST_F(TerminalTest, ACommandThatReadsFromElsewhereCanStillAskTheTerminal) {
  Pty terminal(
      {"sh", "-c",
       "\"$0\" run job -- sh -c 'echo ready; read line </dev/tty; echo got $line' </dev/null",
       HOLDFAST_BINARY},
      environment());
  terminal.expect("ready");
  terminal.type("secret\n");
  terminal.expect("got secret");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(TerminalTest, WhereNobodyCouldContinueItASuspendIsPassedOver) {
  const auto terminal = run("echo ready; read line; echo \"got $line\"");
  terminal->expect("ready");
  terminal->type(kSuspend);
  terminal->type("hello\n");
  terminal->expect("got hello");
  EXPECT_EQ(terminal->wait(), 0);
}

TEST_F(TerminalTest, AShellCanSuspendAndContinueTheJob) {
  environment()["PS1"] = "$ ";
  Pty shell({"bash", "--norc", "--noprofile", "-i"}, environment());
  shell.type(std::string(HOLDFAST_BINARY) +
             " run job -- sh -c 'echo re\"\"ady; read line; echo \"got $line\"'\n");
  shell.expect("ready\r\n");
  shell.type(kSuspend);
  shell.expect("Stopped");
  shell.type("echo back $((1 + 1))\n");
  shell.expect("back 2");
  shell.type("fg\n");
  shell.expect("sh -c");  // the shell names the job that it continues
  shell.type("hello\n");
  shell.expect("got hello");
  shell.type("exit 3\n");
  EXPECT_EQ(shell.wait(), 3);
}

TEST_F(TerminalTest, AWaitShowsWhoHoldsTheNameAndThenErasesIt) {
  auto holder = start_holder({"--owner", "ci@host:41", "--reason", "deploy 812", "job"});
  const auto terminal = run("echo mine");
  const std::string first = terminal->expect_match(kWaiting);
  terminal->expect(" for job · held by ci@host (pid 41) \"deploy 812\" for ");
  terminal->expect(" · lease ");
  while (terminal->expect_match(kWaiting) == first) {
  }
  EXPECT_EQ(holder->wait(), 0);
  const std::string before = terminal->expect("mine");
  EXPECT_TRUE(before.ends_with(kErase)) << before;
  EXPECT_EQ(terminal->wait(), 0);
}

TEST_F(TerminalTest, AnInterruptEndsTheWait) {
  const auto holder = start_holder({"job"});
  const auto terminal = run("echo mine");
  terminal->expect_match(kWaiting);
  terminal->type(kInterrupt);
  EXPECT_EQ(terminal->wait(), 128 + SIGINT);
  EXPECT_TRUE(terminal->screen().ends_with(kErase)) << terminal->screen();
}

TEST_F(TerminalTest, ColoursAreForTerminalsThatWantThem) {
  holdfast({"acquire", "--ttl", "1h", "job"});
  const auto screen_of_ls = [&] {
    Pty terminal(command({"ls"}), environment());
    terminal.wait();
    return terminal.screen();
  };
  environment()["TERM"] = "xterm";
  EXPECT_TRUE(screen_of_ls().starts_with("\033[1mNAME"));
  environment()["NO_COLOR"] = "1";
  EXPECT_TRUE(screen_of_ls().starts_with("NAME"));
  environment().erase("NO_COLOR");
  environment()["TERM"] = "dumb";
  EXPECT_TRUE(screen_of_ls().starts_with("NAME"));
}

}  // namespace

}  // namespace holdfast::cli::testing
