#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include <tests/support/cutting_proxy.h>
#include <tests/support/free_port.h>
#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

using Report = nlohmann::json;

class TortureTest : public Workspace {
 protected:
  // Tortures a store, and returns what it printed with --json.
  Report torture(int status, Words words) {
    words.insert(words.begin(), "torture");
    words.emplace_back("--json");
    const Outcome outcome = holdfast(words);
    EXPECT_EQ(outcome.status, status) << outcome.output << outcome.errors;
    return Report::parse(outcome.output, nullptr, /*allow_exceptions=*/false);
  }

  // A command that runs a server in a session of its own, which has written all before it answers.
  [[nodiscard]] std::string server() const {
    return "cd '" + folder().string() +
           "' && setsid sh -c 'echo $$ > new; mv new id; exec redis-server --port " + port_ +
           " --appendonly yes --appendfsync always'";
  }
  [[nodiscard]] std::string store() const { return "redis://127.0.0.1:" + port_; }
  // Waits until it has been started. Returns its process.
  [[nodiscard]] std::string server_id() const {
    std::string id;
    EXPECT_TRUE(eventually([&] {
      std::ifstream file(folder() / "id");
      return static_cast<bool>(file >> id);
    }));
    return id;
  }

 private:
  const std::string port_ = std::to_string(tests::lasting_port());
};

TEST_F(TortureTest, OnAHealthyStoreNoPromiseIsBroken) {
  const Report report = torture(0, {"--for", "5s", "--ttl", "1s", "--names", "2"});
  EXPECT_EQ(report["good"], true) << report;
  EXPECT_GT(report["granted"], 0U);
  EXPECT_GT(report["faults"], 0U);
  EXPECT_EQ(report["defects"], Report::array());
  EXPECT_EQ(report["cut_short"], false);
  EXPECT_EQ(report["store_silent"], false);
  EXPECT_EQ(report["rules"][0]["checked"], report["granted"]);
}

TEST_F(TortureTest, WithoutFaultsNoUpdateIsLost) {
  const Report report = torture(0, {"--for", "3s", "--faults", "none", "--ttl", "1m"});
  EXPECT_EQ(report["faults"], 0U);
  EXPECT_GT(report["updates"]["acknowledged"], 0U) << report;
  EXPECT_EQ(report["updates"]["lost"], 0U) << report;
  EXPECT_EQ(report["updates"]["late"], 0U) << report;
}

TEST_F(TortureTest, PausesLongerThanTheTtlLoseUpdatesUnlessThereIsAFence) {
  const Words pauses{"--for", "5s", "--faults", "pause", "--ttl", "200ms", "--workers", "4"};
  EXPECT_TRUE(eventually([&] { return torture(0, pauses)["updates"]["lost"] > 0U; }));
  Words fenced = pauses;
  fenced.emplace_back("--fence");
  EXPECT_TRUE(eventually([&] {
    const Report updates = torture(0, fenced)["updates"];
    EXPECT_EQ(updates["lost"], 0U) << updates;
    return updates["refused"] > 0U;
  }));
}

TEST_F(TortureTest, AServerThatForgetsItsLocksIsFound) {
  const tests::RedisServer server;
  const auto run = start({"torture", "--json", "--store", server.url(), "--faults", "none", "--ttl",
                          "30s", "--for", "10s"});
  std::jthread flush([&](const std::stop_token& stop) {
    tests::RedisClient client(server.port());
    while (!stop.stop_requested()) {
      client.run({"FLUSHALL"});
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  const Report report = Report::parse(run->read_line(), nullptr, false);
  flush.request_stop();
  EXPECT_EQ(run->wait(), 1) << run->rest_of_errors();
  EXPECT_EQ(report["good"], false) << report;
  EXPECT_EQ(report["rules"][0]["rule"], "no more holders than permits");
  EXPECT_GT(report["rules"][0]["violations"], 0U);
  EXPECT_EQ(report["violations"][0]["rule"], "no more holders than permits");
}

TEST_F(TortureTest, OnAHealthyServerABadNetworkBreaksNoPromise) {
  const tests::RedisServer server;
  const Report report = torture(0, {"--store", server.url(), "--for", "6s", "--ttl", "1s"});
  EXPECT_EQ(report["good"], true) << report;
  EXPECT_GT(report["granted"], 0U);
  EXPECT_GT(report["faults"], 0U);
}

TEST_F(TortureTest, AServerThatKeepsWhatItAnswersMayBeKilledAndPaused) {
  const Report report =
      torture(0, {"--store", store(), "--for", "8s", "--ttl", "1s", "--faults",
                  "server-kill,server-pause,server-restart,drop", "--server-command", server()});
  EXPECT_EQ(report["good"], true) << report;
  EXPECT_GT(report["granted"], 0U);
  EXPECT_GT(report["faults"], 0U);
}

TEST_F(TortureTest, AServerThatEndsByItselfIsStartedAgain) {
  const auto run = start({"torture", "--store", store(), "--for", "8s", "--ttl", "1s", "--faults",
                          "none", "--server-command", server()});
  run->read_line();  // it has begun
  const std::string first = server_id();
  ::kill(std::stoi(first), SIGKILL);
  EXPECT_TRUE(eventually([&] { return server_id() != first; }));
  EXPECT_EQ(run->wait(), 0) << run->rest_of_output() << run->rest_of_errors();
}

TEST_F(TortureTest, AServerEndsWithItsTortureEvenInASessionOfItsOwn) {
  const auto run = start({"torture", "--store", store(), "--for", "1h", "--ttl", "1s", "--faults",
                          "none", "--server-command", server()});
  run->read_line();  // it has begun
  run->signal(SIGKILL);
  const std::string id = server_id();
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists("/proc/" + id); }));
}

TEST_F(TortureTest, AServerThatDoesNotStartIsNamed) {
  const Outcome outcome =
      holdfast({"torture", "--store", store(), "--server-command", "cd / && exit 3"});
  EXPECT_EQ(outcome.status, 69);
  EXPECT_NE(outcome.errors.find("the server has ended with 3: cd / && exit 3"), std::string::npos)
      << outcome.errors;
}

TEST_F(TortureTest, AtTheEndItWaitsForAServerThatIsDown) {
  tests::RedisServer server;
  const auto run = start({"torture", "--store", server.url(), "--for", "5s", "--ttl", "1s",
                          "--workers", "2", "--faults", "none"});
  run->read_line();  // the head of the rows
  const auto next_row = [&] {
    std::string time;
    std::size_t granted = 0;
    std::istringstream(run->read_line()) >> time >> granted;
    return granted;
  };
  EXPECT_TRUE(eventually([&] { return next_row() > 0; }));
  server.kill();
  for (int i = 0; i < 7; ++i) {
    next_row();  // each a second
  }
  server.restart();
  EXPECT_EQ(run->wait(), 0) << run->rest_of_output() << run->rest_of_errors();
}

TEST_F(TortureTest, AFailOverToAServerThatKnowsNoLocksIsFound) {
  const tests::RedisServer master;
  const tests::RedisServer replica;  // nothing has reached it yet
  tests::CuttingProxy address(master.port());
  const auto run =
      start({"torture", "--json", "--store", "redis://127.0.0.1:" + std::to_string(address.port()),
             "--faults", "none", "--ttl", "10s", "--for", "10s"});
  std::jthread fail_over([&](const std::stop_token& stop) {
    for (bool is_replica = true; !stop.stop_requested(); is_replica = !is_replica) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      address.redirect(is_replica ? replica.port() : master.port());
      address.refuse();  // ends all connections
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      address.allow();
    }
  });
  const Report report = Report::parse(run->read_line(), nullptr, false);
  fail_over.request_stop();
  EXPECT_EQ(run->wait(), 1) << run->rest_of_errors();
  EXPECT_GT(report["rules"][0]["violations"], 0U) << report;
}

TEST_F(TortureTest, AFaultThatCannotHappenHereIsAMistake) {
  for (const char* const fault : {"cut", "delay", "hang", "drop", "server-kill"}) {
    const Outcome outcome = holdfast({"torture", "--faults", fault});
    EXPECT_EQ(outcome.status, 64);
    EXPECT_NE(outcome.errors.find(std::string(fault) + " needs "), std::string::npos)
        << outcome.errors;
  }
}

TEST_F(TortureTest, ThePageShowsHoldersFaultsAndTheJudgement) {
  const std::string file = (folder() / "report.html").string();
  torture(0, {"--for", "3s", "--ttl", "1s", "--html", file});
  std::ifstream in(file);
  const std::string page(std::istreambuf_iterator<char>(in), {});
  for (const char* const text : {"<!doctype html>", "No promise was broken.", "<svg ", "mutex-1",
                                 "tokens strictly increase", "<title>worker 0, token "}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
  for (const char* const text : {"<script", "src=", "href="}) {
    EXPECT_EQ(page.find(text), std::string::npos) << "it needs no other file";
  }
}

TEST_F(TortureTest, TheHistoryHasEveryHold) {
  const std::string file = (folder() / "history.json").string();
  const Report report = torture(0, {"--for", "2s", "--ttl", "1s", "--history", file});
  std::ifstream in(file);
  const Report history = Report::parse(in, nullptr, false);
  EXPECT_EQ(history["judgement"]["good"], true);
  EXPECT_EQ(history["names"].size(), 3U);
  EXPECT_EQ(history["holds"].size(), report["granted"]);
  EXPECT_EQ(history["faults"].size(), report["faults"]);
  for (const char* const key : {"worker", "name", "permits", "token", "asked_ms", "granted_ms",
                                "sure_ms", "ended_ms", "end"}) {
    EXPECT_TRUE(history["holds"][0].contains(key)) << key;
  }
}

TEST_F(TortureTest, TheSummaryIsForPeople) {
  const Outcome outcome = holdfast({"torture", "--for", "2s", "--ttl", "1s", "--seed", "5"});
  EXPECT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
  for (const char* const text : {"GRANTED", "PROMISE", "tokens strictly increase",
                                 "updates: ", "no promise was broken: seed 5\n"}) {
    EXPECT_NE(outcome.output.find(text), std::string::npos) << text << outcome.output;
  }
}

TEST_F(TortureTest, ASignalEndsTheRunAndItsWorkersAndIsJudgedAllTheSame) {
  const auto run = start({"torture", "--for", "1h", "--ttl", "1s"});
  run->read_line();  // it has begun
  run->signal(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGTERM);
  EXPECT_NE(run->rest_of_output().find("no promise was broken"), std::string::npos);
}

// Its workers leave their leases behind.
TEST_F(TortureTest, AfterASignalNobodyWaitsForLeasesToEndAndASecondOneLosesNoReport) {
  const auto run = start({"torture", "--for", "20s", "--ttl", "1h"});
  run->read_line();  // it has begun
  run->read_line();
  run->read_line();  // a second later
  run->signal(SIGINT);
  run->signal(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGINT);
  const std::string output = run->rest_of_output();
  EXPECT_NE(output.find("no promise was broken"), std::string::npos) << output;
}

TEST_F(TortureTest, ASignalEndsTheWaitForAServer) {
  const std::string file = (folder() / "started").string();
  const auto run =
      start({"torture", "--store", store(), "--server-command", "touch " + file + "; sleep 3600"});
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(file); }));
  run->signal(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGTERM);
}

}  // namespace

}  // namespace holdfast::cli::testing
