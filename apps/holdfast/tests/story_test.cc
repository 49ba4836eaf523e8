#include <csignal>
#include <regex>

#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class StoryTest : public Workspace {
 protected:
  // Reads lines until one has a match of this regular expression, and returns it.
  static std::string read_until(Process& process, const std::string& pattern) {
    std::string line = "-";
    std::string all;
    while (!line.empty() && !std::regex_search(line, std::regex(pattern))) {
      line = process.read_error_line();
      all += line + "\n";
    }
    EXPECT_NE(line, "") << "'" << pattern << "' did not come, but: " << all;
    return line;
  }

  // Runs a command that ends when its input does, whether or not it was asked to end before.
  std::unique_ptr<Process> start_verbose(const Words& options) {
    Words words{"run", "-v"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"job", "--", "sh", "-c", "trap '' TERM; echo ready; read line"});
    auto run = start(words);
    EXPECT_EQ(run->read_line(), "ready") << run->rest_of_errors();
    return run;
  }
};

TEST_F(StoryTest, TellsOfTheWaitTheTokenTheRenewalsAndTheRelease) {
  const auto holder = start_holder({"--owner", "first", "job"});
  const auto run = start({"run", "-v", "--ttl", "6s", "job", "--", "sh", "-c", "read line; true"});
  read_until(*run, "holdfast: waiting [0-9]+[sm] for job · held by first for ");
  holder->close_input();
  const std::string acquired = read_until(*run, "acquired");
  EXPECT_TRUE(std::regex_match(
      acquired, std::regex("holdfast: acquired job with token [0-9]+ after waiting [0-9]+m?s, "
                           "last held by first for .*")))
      << acquired;
  EXPECT_EQ(run->read_error_line(), "holdfast: renewed job");
  EXPECT_EQ(run->read_error_line(), "holdfast: renewed job");
  run->close_input();
  EXPECT_TRUE(read_until(*run, "released").starts_with("holdfast: released job after "));
  EXPECT_EQ(run->wait(), 0);
}

TEST_F(StoryTest, ALeaseIsRenewedThoughItsLossIsIgnored) {
  const auto run = start({"run", "-v", "--ttl", "3s", "--on-lost", "ignore", "job", "--", "cat"});
  EXPECT_NE(run->read_error_line().find("acquired job"), std::string::npos);
  EXPECT_NE(run->read_error_line().find("renewed job"), std::string::npos);
  EXPECT_EQ(run->wait(), 0);
}

TEST_F(StoryTest, ALeaseIsRenewedWhileTheHookRunsThatComesBeforeTheCommand) {
  const std::string go = (folder() / "go").string();
  const auto run = start({"run", "-v", "--ttl", "3s", "--on-acquire",
                          "while ! [ -e " + go + " ]; do sleep 0.02; done", "job", "--", "true"});
  EXPECT_NE(run->read_error_line().find("acquired job"), std::string::npos);
  EXPECT_NE(run->read_error_line().find("renewed job"), std::string::npos);
  std::ofstream{go};
  EXPECT_EQ(run->wait(), 0);
}

TEST_F(StoryTest, WithTwoLettersEachLineHasItsTime) {
  const Outcome outcome = holdfast({"run", "-vv", "job", "--", "true"});
  EXPECT_NE(outcome.errors.find(" holdfast: acquired job"), std::string::npos) << outcome.errors;
  EXPECT_TRUE(std::regex_match(
      outcome.errors,
      std::regex("([0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3} holdfast( debug)?: .*\n)+")))
      << outcome.errors;
}

TEST_F(StoryTest, AsJsonEachEventIsAnObject) {
  const Outcome outcome = holdfast({"run", "-v", "--json", "job", "--", "true"});
  const auto first = nlohmann::json::parse(outcome.errors.substr(0, outcome.errors.find('\n')));
  EXPECT_EQ(first["event"], "acquired");
  EXPECT_EQ(first["name"], "job");
  EXPECT_TRUE(first["time"].is_string());
  EXPECT_TRUE(first["message"].get<std::string>().starts_with("acquired job with token "));
}

TEST_F(StoryTest, WithoutTheOptionNothingIsPrinted) {
  EXPECT_EQ(holdfast({"run", "job", "--", "true"}).errors, "");
}

TEST_F(StoryTest, ALossBecauseOfATheftNamesTheNewHolder) {
  const auto run = start_verbose({"--ttl", "6s", "--kill-after", "1h"});
  const auto thief =
      start({"run", "--owner", "thief", "job", "--", "sh", "-c", "echo mine; read line"});
  read_until(*thief, "waiting");
  EXPECT_EQ(holdfast({"steal", "job", "--confirm", "job"}).status, 0);
  EXPECT_EQ(thief->read_line(), "mine");
  read_until(*run,
             "lost job: its lease was stolen, or the store no longer has it; ending the command");
  run->close_input();
  read_until(*run, "job is now held by thief for ");
  EXPECT_EQ(run->wait(), 79);
}

TEST_F(StoryTest, ALossBecauseOfAnOutageSaysSinceWhen) {
  tests::RedisServer server;
  environment()["HOLDFAST_STORE"] = server.url();
  const auto run = start_verbose({"--ttl", "3s"});
  server.kill();
  read_until(*run, "lost job: the store has been unreachable for ");
  EXPECT_EQ(run->wait(), 79);
}

}  // namespace

}  // namespace holdfast::cli::testing
