// Calls that wait in the queue together and are joined to one command.

#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <tests/support/patience.h>
#include <tests/support/redis_client.h>

#include <holdfast/engines/redis/internal/connection_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;

// Answers each with its own argument.
constexpr std::string_view kEcho =
    "if #KEYS == 2 then return ARGV[2] end "
    "local all = {} for i = 1, #KEYS / 2 do all[i] = ARGV[i + 1] end return all";
// Does nothing for those that are joined, but for the first.
constexpr std::string_view kFirst =
    "if #KEYS == 2 then return ARGV[2] end "
    "local all = {ARGV[2]} for i = 2, #KEYS / 2 do all[i] = false end return all";
constexpr std::string_view kRefuses =
    "if #KEYS == 2 then return ARGV[2] end return redis.error_reply('CROSSSLOT no')";
constexpr std::string_view kForever = "while true do end";

class JoinedCalls : public ::testing::Test {
 protected:
  using Answer = base::Result<Reply>;

  void load(std::string_view script) {
    sha_ = client_.run({"SCRIPT", "LOAD", std::string(script)});
  }

  // Lets so many callers queue before there is a connection, and then lets them go.
  std::vector<std::future<Answer>> ask(int callers) {
    server_.suspend();
    std::vector<std::future<Answer>> asking;
    for (int i = 0; i < callers; ++i) {
      asking.push_back(
          std::async(std::launch::async, [this, i] { return call(std::to_string(i)); }));
    }
    EXPECT_TRUE(tests::eventually(
        [&] { return connection_->counters().pending == static_cast<std::size_t>(callers); }));
    server_.resume();
    return asking;
  }
  void expect_own_answers(std::vector<std::future<Answer>> asking) {
    for (std::size_t i = 0; i < asking.size(); ++i) {
      EXPECT_EQ(text_of(asking[i].get()), std::to_string(i));
    }
    EXPECT_EQ(connection_->counters().pending, 0U);
  }
  // Returns how many scripts the server has run.
  int scripts() {
    const std::string stats = client_.run({"INFO", "commandstats"});
    const std::string key = "cmdstat_evalsha:calls=";
    return std::stoi(stats.substr(stats.find(key) + key.size()));
  }

  Answer call(const std::string& argument) {
    Command command("EVALSHA", sha_, 2, "a", "b", "common", argument);
    command.make_joinable();
    return connection_->call(command, patience());
  }
  // Not connected yet.
  std::unique_ptr<Connection> make_connection() {
    RedisOptions options = options_for(server_);
    options.connect_timeout = std::chrono::seconds(60);
    return std::make_unique<Connection>(std::move(options));
  }

  tests::RedisServer server_;
  tests::RedisClient client_{server_.port()};
  std::string sha_;
  std::unique_ptr<Connection> connection_ = make_connection();
};

TEST_F(JoinedCalls, EachGetsItsOwnPartOfTheAnswer) {
  load(kEcho);
  expect_own_answers(ask(20));
  EXPECT_EQ(scripts(), 2);  // 16 and 4
}

TEST_F(JoinedCalls, ThoseForWhomNothingWasDoneAskAlone) {
  load(kFirst);
  expect_own_answers(ask(3));
  EXPECT_EQ(scripts(), 3);
}

TEST_F(JoinedCalls, WhereTheServerRefusesThemEachAsksAlone) {
  load(kRefuses);
  expect_own_answers(ask(3));
  EXPECT_EQ(scripts(), 4);
}

TEST_F(JoinedCalls, WhereTheyHaveToAskAgainTheNextAreNotJoined) {
  load(kRefuses);
  // Several times: who comes together is up to the scheduler.
  for (int round = 0; round < 10; ++round) {
    connection_ = make_connection();
    expect_own_answers(ask(3));
    const int before = scripts();
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 32; ++caller) {
      callers.emplace_back([this] {
        for (int i = 0; i < 8; ++i) {
          EXPECT_EQ(text_of(call("mine")), "mine");
        }
      });
    }
    callers.clear();
    EXPECT_EQ(scripts() - before, 32 * 8);
  }
}

TEST_F(JoinedCalls, WhatIsUnderWayWhenTheServerDiesIsUnknown) {
  load(kForever);
  auto asking = ask(5);
  ASSERT_TRUE(tests::eventually([&] { return connection_->counters().commands == 5; }));
  server_.kill();
  for (auto& call : asking) {
    const Answer answer = call.get();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::unknown_outcome);
  }
  EXPECT_EQ(connection_->counters().pending, 0U);
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
