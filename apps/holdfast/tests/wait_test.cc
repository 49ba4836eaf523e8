#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/pty.h"
#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class WaitTest : public Workspace {};

// A holder on a server that the test can stop.
class OutageTest : public WaitTest {
 protected:
  OutageTest() {
    environment()["HOLDFAST_STORE"] = server_.url();
    holdfast({"acquire", "--ttl", "1h", "--owner", "first", "job"});
  }

  // Reads lines until one has this text, and returns it.
  static std::string read_until(Process& process, const std::string& text) {
    std::string line = "-";
    while (!line.empty() && line.find(text) == std::string::npos) {
      line = process.read_error_line();
    }
    EXPECT_NE(line, "") << "'" << text << "' did not come";
    return line;
  }

  tests::RedisServer server_;
};

TEST_F(WaitTest, WithoutATerminalTheStartOfAWaitIsOneLine) {
  const auto holder = start_holder({"--owner", "first", "job"});
  const auto waiter = start({"run", "-w", "30m", "job", "--", "true"});
  const std::string line = waiter->read_error_line();
  EXPECT_TRUE(starts_with_match(line,
                                "holdfast: waiting [0-9]+[sm] for job · held by first for .* · "
                                "gives up in 2[0-9]m"))
      << line;
  holder->close_input();
  EXPECT_EQ(waiter->wait(), 0);
  EXPECT_EQ(waiter->rest_of_errors(), "");
  EXPECT_EQ(waiter->rest_of_output(), "");
}

TEST_F(WaitTest, AsJsonALineOfAWaitHasTheDocumentedKeys) {
  const auto holder = start_holder({"--owner", "first", "job"});
  const auto waiter = start({"run", "--json", "-w", "60s", "job", "--", "true"});
  const auto line = nlohmann::json::parse(waiter->read_error_line());
  EXPECT_EQ(line["event"], "waiting");
  EXPECT_EQ(line["name"], "job");
  EXPECT_GT(line["waited_ms"], 900);
  EXPECT_LT(line["gives_up_in_ms"], 60'000);
  EXPECT_EQ(line["holders"][0]["owner"], "first");
}

TEST_F(OutageTest, AWaiterSaysThatItsStoreIsUnreachableAndGoesOn) {
  const auto waiter = start({"run", "job", "--", "echo", "mine"});
  read_until(*waiter, "held by first");
  server_.kill();
  const std::string line = waiter->read_error_line();
  EXPECT_NE(line.find("for job · store unreachable: the Redis server at "), std::string::npos)
      << line;
  EXPECT_TRUE(line.ends_with(", retrying")) << line;
  server_.restart();  // as an empty one
  EXPECT_EQ(waiter->read_line(), "mine");
  EXPECT_EQ(waiter->wait(), 0);
  EXPECT_EQ(waiter->rest_of_errors(), "");
}

TEST_F(OutageTest, WaitGoesOnToo) {
  const auto waiter = start({"wait", "job"});
  read_until(*waiter, "held by first");
  server_.kill();
  read_until(*waiter, "store unreachable");
  server_.restart();
  EXPECT_EQ(waiter->wait(), 0);
}

TEST_F(OutageTest, AWaitThatEndsDuringAnOutageEndsWith69) {
  const auto run = start({"run", "-w", "5s", "job", "--", "true"});
  const auto wait = start({"wait", "-w", "5s", "job"});
  read_until(*run, "held by first");
  read_until(*wait, "held by first");
  server_.kill();
  EXPECT_EQ(run->wait(), 69) << run->rest_of_errors();
  EXPECT_EQ(wait->wait(), 69) << wait->rest_of_errors();
}

TEST_F(OutageTest, OnATerminalTheLineSaysSo) {
  Pty terminal(command({"run", "-w", "10m", "job", "--", "echo", "mine"}), environment());
  terminal.expect_match("waiting [0-9]+[sm] for job · held by first for .* · gives up in [0-9]m");
  server_.kill();
  terminal.expect("store unreachable: the Redis server at ");
  server_.restart();
  terminal.expect("mine");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(WaitTest, AQuietWaitPrintsNothing) {
  const auto holder = start_holder({"job"});
  // Longer than a wait needs for its first line without -q.
  const Outcome busy = holdfast({"run", "-q", "-w", "2500ms", "job", "--", "true"});
  EXPECT_EQ(busy.status, 75);
  EXPECT_EQ(busy.errors.find("waiting"), std::string::npos) << busy.errors;
  EXPECT_NE(busy.errors.find("job is held by"), std::string::npos) << busy.errors;
}

TEST_F(WaitTest, AQuietRunThatIsSkippedWithSuccessPrintsNothing) {
  const auto holder = start_holder({"job"});
  const Outcome skipped = holdfast({"run", "-q", "-n", "-E", "0", "job", "--", "true"});
  EXPECT_EQ(skipped.status, 0);
  EXPECT_EQ(skipped.errors, "");
}

}  // namespace

}  // namespace holdfast::cli::testing
