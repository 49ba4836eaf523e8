#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <fstream>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

// A service manager that listens.
class ServiceTest : public Workspace {
 protected:
  ServiceTest() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const std::string path = (folder() / "notify").string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    environment()["NOTIFY_SOCKET"] = path;
  }
  ~ServiceTest() override { close(socket_); }

  // The next datagram.
  std::string next() {
    pollfd source{.fd = socket_, .events = POLLIN, .revents = 0};
    constexpr int kMs = std::chrono::milliseconds(kPatience).count();
    if (poll(&source, 1, kMs) <= 0) {
      return "nothing";
    }
    std::array<char, 4096> bytes{};
    const ssize_t size = recv(socket_, bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  // Returns whether there is no datagram to read.
  [[nodiscard]] bool is_quiet() const {
    pollfd source{.fd = socket_, .events = POLLIN, .revents = 0};
    return poll(&source, 1, 0) == 0;
  }
  // Reads datagrams until this one comes.
  void expect(const std::string& message) {
    std::string all;
    for (std::string one = next(); one != message; one = next()) {
      all += one + "\n";
      ASSERT_NE(one, "nothing") << message << " did not come, but: " << all;
    }
  }

 private:
  const int socket_;
};

TEST_F(ServiceTest, ARunIsReadyWhenItsCommandRuns) {
  const auto holder = start_holder({"job"});
  expect("READY=1\nSTATUS=holding job");
  const auto run = start({"run", "job", "--", "sh", "-c", "echo ${NOTIFY_SOCKET-none}; read line"});
  expect("EXTEND_TIMEOUT_USEC=30000000");
  expect("STATUS=waiting for job");
  holder->close_input();
  EXPECT_EQ(run->read_line(), "none");
  expect("READY=1\nSTATUS=holding job");
}

TEST_F(ServiceTest, ACandidateIsReadyWhileItStandsBy) {
  auto holder = start_holder({"job"});
  expect("READY=1\nSTATUS=holding job");
  const auto candidate = start({"elect", "job", "--", "sh", "-c", "echo leads; read line"});
  expect("READY=1\nSTATUS=standby for job");
  EXPECT_EQ(holder->wait(), 0);
  EXPECT_EQ(candidate->read_line(), "leads");
  expect("READY=1\nSTATUS=leader of job");
}

TEST_F(ServiceTest, TheWatchdogIsFedWhileTheCommandRuns) {
  environment()["WATCHDOG_USEC"] = "100000";
  const auto holder = start_holder({"job"});
  for (int i = 0; i < 3; ++i) {
    expect("WATCHDOG=1");
  }
}

TEST_F(ServiceTest, TheWatchdogIsFedInTimeDuringAWait) {
  holdfast({"acquire", "--ttl", "1h", "job"});
  environment()["WATCHDOG_USEC"] = "20000";
  // The first look at the store comes after a second: by then it must have been fed more than once.
  // On a busy machine a process may not run for a second, so there are some attempts.
  int fed = 0;
  for (int attempt = 0; attempt < 10 && fed <= 1; ++attempt) {
    while (!is_quiet()) {
      next();
    }
    const auto waiter = start({"run", "job", "--", "true"});
    fed = 0;
    for (std::string one = next(); one != "STATUS=waiting for job"; one = next()) {
      ASSERT_NE(one, "nothing");
      fed += one == "WATCHDOG=1" ? 1 : 0;
    }
  }
  EXPECT_GT(fed, 1);
}

TEST_F(ServiceTest, TheWatchdogOfAnotherProcessIsNotFed) {
  environment()["WATCHDOG_USEC"] = "20000";
  environment()["WATCHDOG_PID"] = "1";
  EXPECT_EQ(holdfast({"run", "job", "--", "sleep", "0.2"}).status, 0);
  EXPECT_EQ(next(), "READY=1\nSTATUS=holding job");
  EXPECT_TRUE(is_quiet());
}

TEST_F(ServiceTest, AHugeWatchdogTimeIsNoBusyLoop) {
  environment()["WATCHDOG_USEC"] = "18446744073709551615";
  EXPECT_EQ(holdfast({"run", "job", "--", "sleep", "0.2"}).status, 0);
  int fed = 0;
  while (!is_quiet()) {
    fed += next() == "WATCHDOG=1" ? 1 : 0;
  }
  EXPECT_LT(fed, 8);  // the socket holds some more
}

class HookTest : public Workspace {};

TEST_F(HookTest, OneRunsBeforeTheCommandAndKnowsTheToken) {
  const Outcome outcome = holdfast({"run", "--on-acquire", "echo hook $HOLDFAST_TOKEN", "job", "--",
                                    "sh", "-c", "echo command $HOLDFAST_TOKEN"});
  const std::size_t line = outcome.output.find('\n');
  EXPECT_TRUE(outcome.output.starts_with("hook 1")) << outcome.output;
  EXPECT_EQ(outcome.output.substr(line + 1), "command" + outcome.output.substr(4, line - 3));
}

TEST_F(HookTest, OneThatFailsKeepsTheCommandFromRunning) {
  for (const char* const command : {"run", "elect"}) {
    const Outcome outcome =
        holdfast({command, "--on-acquire", "exit 3", "job", "--", "echo", "command"});
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.output, "");
    EXPECT_NE(outcome.errors.find("--on-acquire of job failed with status 3"), std::string::npos);
    EXPECT_EQ(json({"show", "--json", "job"})["held"], false);
  }
}

TEST_F(HookTest, OneThatFailsWithTheStatusOfALossEndsAnElection) {
  EXPECT_EQ(holdfast({"elect", "--on-acquire", "exit 79", "job", "--", "true"}).status, 79);
}

TEST_F(HookTest, ASignalEndsOneThatRuns) {
  const auto run =
      start({"run", "--on-acquire", "echo hook; exec sleep 1000", "job", "--", "true"});
  EXPECT_EQ(run->read_line(), "hook");
  run->signal(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGTERM);
}

TEST_F(HookTest, AfterASignalTheCommandIsNotRun) {
  const auto run =
      start({"run", "--on-acquire", "trap 'exit 0' INT; echo hook; while :; do sleep 0.02; done",
             "job", "--", "echo", "command"});
  EXPECT_EQ(run->read_line(), "hook");
  run->signal(SIGINT);
  EXPECT_EQ(run->wait(), 128 + SIGINT);
  EXPECT_EQ(run->rest_of_output(), "");
}

TEST_F(HookTest, ALossEndsOneThatIgnoresTerm) {
  const auto run = start({"run", "--ttl", "2s", "--kill-after", "100ms", "--on-acquire",
                          "trap '' TERM; echo hook; while :; do sleep 0.02; done", "job", "--",
                          "echo", "command"});
  EXPECT_EQ(run->read_line(), "hook");
  EXPECT_EQ(holdfast({"steal", "job", "--confirm", "job"}).status, 0);
  EXPECT_EQ(run->wait(), 79);
  EXPECT_EQ(run->rest_of_output(), "");
}

TEST_F(HookTest, OneReadsNothingAndLeavesTheInputToTheCommand) {
  const Outcome outcome = holdfast(
      {"run", "--on-acquire", "read line; echo \"hook <$line>\"", "job", "--", "cat"}, "input\n");
  EXPECT_EQ(outcome.output, "hook <>\ninput\n");
}

TEST_F(HookTest, ALossEndsOneThatRuns) {
  const auto run = start({"run", "--ttl", "2s", "--on-acquire", "echo hook; exec sleep 1000",
                          "--on-loss", "echo loss", "job", "--", "true"});
  EXPECT_EQ(run->read_line(), "hook");
  holdfast({"steal", "job", "--confirm", "job"});
  EXPECT_EQ(run->read_line(), "loss");
  EXPECT_EQ(run->wait(), 79);
}

// The ttl is so long that no renewal finds the loss before the release does.
TEST_F(HookTest, OneStartsWhenTheReleaseFindsTheLoss) {
  const auto run = start({"run", "--ttl", "1h", "--on-loss", "echo loss of $HOLDFAST_NAME", "job",
                          "--", "sh", "-c", "echo ready; read line; true"});
  EXPECT_EQ(run->read_line(), "ready");
  holdfast({"steal", "job", "--confirm", "job"});
  EXPECT_EQ(run->wait(), 79);
  EXPECT_EQ(run->rest_of_output(), "loss of job\n");
}

TEST_F(HookTest, OneThatOutlivesItsTermIsCollectedWhenItEnds) {
  const std::filesystem::path go_on = folder() / "go_on";
  const auto candidate = start({"elect", "--ttl", "2s", "--on-loss",
                                "echo $$; until [ -e " + go_on.string() + " ]; do sleep 0.02; done",
                                "job", "--", "sh", "-c", "echo leads; exec sleep 1000"});
  EXPECT_EQ(candidate->read_line(), "leads");
  holdfast({"steal", "job", "--confirm", "job"});
  // The hook and the command of the next term write side by side.
  const std::string one = candidate->read_line();
  const std::string two = candidate->read_line();
  ASSERT_TRUE((one == "leads") != (two == "leads")) << one << ", " << two;
  const std::string hook = one == "leads" ? two : one;
  EXPECT_TRUE(std::filesystem::exists("/proc/" + hook));
  std::ofstream(go_on).close();
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists("/proc/" + hook); }));
}

TEST_F(HookTest, OneStartsWhenTheLockIsLost) {
  const auto run = start({"run", "--ttl", "2s", "--on-loss", "echo loss of $HOLDFAST_NAME", "job",
                          "--", "sh", "-c", "echo ready; exec sleep 60"});
  EXPECT_EQ(run->read_line(), "ready");
  holdfast({"steal", "job", "--confirm", "job"});
  EXPECT_EQ(run->read_line(), "loss of job");
  EXPECT_EQ(run->wait(), 79);
}

}  // namespace

}  // namespace holdfast::cli::testing
