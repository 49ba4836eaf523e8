#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include <sqlite3.h>

#include <holdfast/base/clock.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

constexpr const char* kPolite =
    "trap 'echo TERM; exit 0' TERM; echo ready; while :; do sleep 0.02; done";
constexpr const char* kStubborn = "trap '' TERM; echo ready; while :; do sleep 0.02; done";

class LossTest : public Workspace {
 protected:
  std::unique_ptr<Process> start_ready(const Words& options, const std::string& script) {
    Words words{"run"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"job", "--", "sh", "-c", script});
    auto run = start(words);
    EXPECT_EQ(run->read_line(), "ready") << run->rest_of_errors();
    return run;
  }

  void steal() { EXPECT_EQ(holdfast({"steal", "job", "--confirm", "job"}).status, 0); }
};

TEST_F(LossTest, ACommandWhoseLockIsStolenGetsTermAndTheRunEndsWith79) {
  const auto run = start_ready({"--ttl", "2s", "--kill-after", "60s"}, kPolite);
  steal();
  EXPECT_EQ(run->read_line(), "TERM");
  EXPECT_EQ(run->wait(), 79);
  EXPECT_NE(run->rest_of_errors().find("lost job"), std::string::npos);
}

TEST_F(LossTest, ACommandThatIgnoresTermIsKilled) {
  const auto run = start_ready({"--ttl", "2s", "--kill-after", "100ms"}, kStubborn);
  steal();
  EXPECT_EQ(run->wait(), 79);
}

TEST_F(LossTest, TheWholeProcessGroupEnds) {
  const auto run =
      start_ready({"--ttl", "2s", "--kill-after", "100ms"},
                  "sh -c \"trap '' TERM; echo ready; while :; do sleep 0.02; done\" & wait");
  steal();
  // Only when the last of them is gone does the output end.
  EXPECT_EQ(run->wait(), 79);
}

TEST_F(LossTest, AStoppedCommandEndsToo) {
  const auto run = start_ready({"--ttl", "2s", "--kill-after", "60s"},
                               "trap 'echo TERM; exit 0' TERM; echo ready; kill -STOP $$");
  steal();
  EXPECT_EQ(run->wait(), 79);
}

TEST_F(LossTest, ALossCanBeIgnored) {
  const auto run =
      start_ready({"--ttl", "2s", "--on-lost", "ignore"}, "echo ready; read line; exit 5");
  steal();
  EXPECT_NE(run->read_error_line().find("lost job"), std::string::npos);
  EXPECT_EQ(run->wait(), 5);
}

TEST_F(LossTest, ALossThatOnlyTheReleaseNoticesEndsWith79) {
  const auto run = start_ready({"--ttl", "1h"}, "echo ready; read line");
  steal();
  EXPECT_EQ(run->wait(), 79);
}

// Keeps everybody from writing to the store, as an outage of it would.
class Outage {
 public:
  explicit Outage(const std::string& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &connection_), SQLITE_OK);
    sqlite3_busy_timeout(connection_, 10'000);
    EXPECT_EQ(sqlite3_exec(connection_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  Outage(const Outage&) = delete;
  Outage& operator=(const Outage&) = delete;
  ~Outage() { sqlite3_close(connection_); }

 private:
  sqlite3* connection_ = nullptr;
};

TEST_F(LossTest, WhileTheStoreIsUnavailableTheCommandIsKilledBeforeItsLeaseIsOver) {
  const std::string beats = (folder() / "beats").string();
  const auto run = start_ready(
      {"--ttl", "2s", "--kill-after", "300ms"},
      "trap '' TERM; echo ready; while :; do cut -d' ' -f1 /proc/uptime >> " + beats + "; done");
  const auto store = open_store();
  const Outage outage(store_url().substr(std::string("sqlite:").size()));
  const auto state = base::value_or_throw(store->look("job"));
  ASSERT_TRUE(state);
  const base::TimePoint over = base::boot_clock().now() + state->holders.front().time_left;
  EXPECT_EQ(run->wait(), 79);

  std::ifstream file(beats);
  double last = 0;
  for (double beat = 0; file >> beat;) {
    last = beat;
  }
  EXPECT_GT(last, 0);
  EXPECT_LT(last, std::chrono::duration<double>(over.time_since_epoch()).count());
}

// Starts a command that leads, and takes the store away until that has been noticed.
class ElectionOutageTest : public LossTest {
 protected:
  ElectionOutageTest()
      : leader_(start({"elect", "--ttl", "4s", "job", "--", "sh", "-c", kPolite})) {
    EXPECT_EQ(leader_->read_line(), "ready") << leader_->rest_of_errors();
    outage_.emplace(store_url().substr(std::string("sqlite:").size()));
    EXPECT_EQ(leader_->read_line(), "TERM");
    std::string line = "-";
    while (!line.empty() && line.find("trying again") == std::string::npos) {
      line = leader_->read_error_line();
    }
    EXPECT_NE(line, "") << "it gave up";
  }

  std::unique_ptr<Process> leader_;
  std::optional<Outage> outage_;
};

TEST_F(ElectionOutageTest, ACandidateThatLostItsTermCampaignsAgainWhenTheStoreAnswers) {
  outage_.reset();
  EXPECT_EQ(leader_->read_line(), "ready");
  leader_->signal(SIGTERM);
  EXPECT_EQ(leader_->wait(), 0);
}

TEST_F(ElectionOutageTest, ASignalEndsIt) {
  leader_->signal(SIGINT);
  EXPECT_EQ(leader_->wait(), 128 + SIGINT);
}

}  // namespace

}  // namespace holdfast::cli::testing
