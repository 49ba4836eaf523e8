#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class SignalTest : public Workspace {
 protected:
  // A command that says "ready", then the name of each of these signals that it gets; TERM ends it.
  std::unique_ptr<Process> start_listener(const Words& options) {
    Words words{"run"};
    words.insert(words.end(), options.begin(), options.end());
    const std::string script =
        "for s in INT HUP QUIT USR1 USR2 WINCH; do trap \"echo $s\" $s; done;"
        "trap 'echo TERM; exit 9' TERM; echo ready; while :; do sleep 0.02; done";
    for (const std::string& word :
         {std::string("--"), std::string("bash"), std::string("-c"), script}) {
      words.push_back(word);
    }
    auto listener = start(words);
    EXPECT_EQ(listener->read_line(), "ready");
    return listener;
  }
};

// Missing, or ended and only not yet collected by its parent.
bool is_gone(const std::string& id) {
  std::ifstream file("/proc/" + id + "/stat");
  std::string number;
  std::string name;
  std::string state;
  return !(file >> number >> name >> state) || state == "Z" || state == "X";
}

std::string state_of(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string number;
  std::string name;
  std::string state;
  file >> number >> name >> state;
  return state;
}

TEST_F(SignalTest, SignalsArePassedOnToTheCommand) {
  const auto listener = start_listener({"job"});
  const std::pair<int, const char*> signals[] = {{SIGINT, "INT"},   {SIGHUP, "HUP"},
                                                 {SIGQUIT, "QUIT"}, {SIGUSR1, "USR1"},
                                                 {SIGUSR2, "USR2"}, {SIGWINCH, "WINCH"}};
  for (const auto& [number, name] : signals) {
    listener->signal(number);
    EXPECT_EQ(listener->read_line(), name);
  }
  listener->signal(SIGTERM);
  EXPECT_EQ(listener->read_line(), "TERM");
  EXPECT_EQ(listener->wait(), 9);
  EXPECT_EQ(json({"show", "--json", "job"})["held"], false);
}

TEST_F(SignalTest, ASignalEndsTheWaitAndNothingIsHeld) {
  auto holder = start_holder({"job"});
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    const auto waiter = start({"run", "-v", "job", "--", "echo", "mine"});
    EXPECT_TRUE(waiter->read_error_line().starts_with("holdfast: waiting"));
    waiter->signal(signal);
    EXPECT_EQ(waiter->wait(), 128 + signal);
    EXPECT_EQ(waiter->rest_of_output(), "");
  }
  EXPECT_EQ(holder->wait(), 0);
  EXPECT_EQ(json({"show", "--json", "job"})["held"], false);
}

TEST_F(SignalTest, ASignalThatEndsNothingDoesNotEndTheWait) {
  auto holder = start_holder({"job"});
  const auto waiter = start({"run", "-v", "job", "--", "echo", "mine"});
  EXPECT_TRUE(waiter->read_error_line().starts_with("holdfast: waiting"));
  waiter->signal(SIGWINCH);
  waiter->signal(SIGCONT);
  EXPECT_EQ(holder->wait(), 0);
  EXPECT_EQ(waiter->read_line(), "mine");
  EXPECT_EQ(waiter->wait(), 0);
}

TEST_F(SignalTest, ASignalThatTheCallerIgnoresDoesNotEndTheWait) {
  auto holder = start_holder({"job"});
  Process waiter(
      {"env", "--ignore-signal=HUP", HOLDFAST_BINARY, "run", "-v", "job", "--", "echo", "mine"},
      environment());
  EXPECT_TRUE(waiter.read_error_line().starts_with("holdfast: waiting"));
  waiter.signal(SIGHUP);
  EXPECT_EQ(holder->wait(), 0);
  EXPECT_EQ(waiter.read_line(), "mine");
  EXPECT_EQ(waiter.wait(), 0);
}

TEST_F(SignalTest, AStopStopsTheCommandTooAndBothGoOn) {
  // The test's own process group can continue it, so the kernel lets it be stopped.
  const auto listener = start_listener({"job"});
  listener->signal(SIGTSTP);
  EXPECT_TRUE(eventually([&] { return state_of(listener->id()) == "T"; }));
  listener->signal(SIGCONT);
  listener->signal(SIGTERM);
  EXPECT_EQ(listener->read_line(), "TERM");
  EXPECT_EQ(listener->wait(), 9);
}

TEST_F(SignalTest, WhenAHolderIsKilledTheNextGetsTheNameWithAGreaterToken) {
  const std::string script = "echo $HOLDFAST_TOKEN; echo $$; exec sleep 60";
  const auto holder = start({"run", "--ttl", "2s", "job", "--", "sh", "-c", script});
  const auto first = std::stoull(holder->read_line());
  const std::string command_id = holder->read_line();
  holder->signal(SIGKILL);
  EXPECT_EQ(holder->wait(), 128 + SIGKILL);
  const Outcome next =
      holdfast({"run", "-w", "60s", "job", "--", "sh", "-c", "echo $HOLDFAST_TOKEN"});
  EXPECT_EQ(next.status, 0) << next.errors;
  EXPECT_GT(std::stoull(next.output), first);
  EXPECT_TRUE(is_gone(command_id)) << "it was not killed together with its holder";
}

TEST_F(SignalTest, ASignalThatTheCallerIgnoresIsIgnoredByTheCommandToo) {
  const Outcome outcome =
      run_to_end({"env", "--ignore-signal=HUP", HOLDFAST_BINARY, "run", "job", "--", "sh", "-c",
                  "kill -HUP $PPID; kill -HUP $$; echo alive"},
                 environment());
  EXPECT_EQ(outcome.output, "alive\n");
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(SignalTest, AnIgnoredSigchldDoesNotHideHowTheCommandEnded) {
  const Outcome outcome = run_to_end(
      {"env", "--ignore-signal=CHLD", HOLDFAST_BINARY, "run", "job", "--", "sh", "-c", "exit 5"},
      environment());
  EXPECT_EQ(outcome.status, 5);
}

}  // namespace

}  // namespace holdfast::cli::testing
