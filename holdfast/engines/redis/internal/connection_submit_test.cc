// Commands for which no caller waits.

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/connection_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using base::Result;
using namespace std::chrono_literals;

class ConnectionSubmit : public ::testing::Test {
 protected:
  static std::future<Result<Reply>> submit(Connection& connection, Command command,
                                           base::Deadline deadline) {
    auto promise = std::make_shared<std::promise<Result<Reply>>>();
    auto answer = promise->get_future();
    connection.submit(std::move(command), deadline,
                      [promise](Result<Reply> reply) { promise->set_value(std::move(reply)); });
    return answer;
  }

  tests::RedisServer server_;
};

TEST_F(ConnectionSubmit, IsAnsweredWithoutACaller) {
  const auto connection = open_connection(options_for(server_));
  EXPECT_EQ(text_of(submit(*connection, Command("ECHO", "hello"), patience()).get()), "hello");
  EXPECT_EQ(
      submit(*connection, Command("INCRBY", "n", 5), base::Deadline::never()).get()->integer(), 5);
  EXPECT_EQ(connection->counters().pending, 0U);
}

TEST_F(ConnectionSubmit, ConnectsByItself) {
  Connection connection(options_for(server_));
  EXPECT_EQ(text_of(submit(connection, Command("ECHO", "hello"), patience()).get()), "hello");
}

TEST_F(ConnectionSubmit, ManyAndTheCallsOfThreadsEachGetTheirOwnReplies) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 200;
  const auto connection = open_connection(options_for(server_));
  std::atomic<int> wrong = 0;
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kRounds; ++i) {
          const std::string mine = std::to_string(t) + ":" + std::to_string(i);
          connection->submit(Command("ECHO", mine), patience(), [&, mine](Result<Reply> reply) {
            wrong += text_of(reply) == mine ? 0 : 1;
            ++answered;
          });
          if (t % 2 == 0) {
            wrong += text_of(connection->call(Command("ECHO", mine), patience())) == mine ? 0 : 1;
          }
        }
      });
    }
  }
  const auto give_up = patience();
  while (answered < kThreads * kRounds && !give_up.expired(base::steady_clock().now())) {
    std::this_thread::yield();
  }
  EXPECT_EQ(answered, kThreads * kRounds);
  EXPECT_EQ(wrong, 0);
}

TEST_F(ConnectionSubmit, LargeCommandsForAServerThatHangsAreRefusedBeyondTheirBudget) {
  constexpr std::size_t kMebi = std::size_t{1} << 20U;
  RedisOptions options = options_for(server_);
  options.max_pending_bytes = 4 * kMebi;
  options.reply_timeout = 1h;
  const auto connection = open_connection(options);
  server_.suspend();
  std::vector<std::future<Result<Reply>>> answers;
  for (int i = 0; i < 8; ++i) {
    answers.push_back(submit(*connection, Command("ECHO", std::string(kMebi, 'x')), patience()));
  }
  const auto refused = answers.back().get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
  EXPECT_TRUE(refused.error().message.contains("max_pending_bytes")) << refused.error().message;
  EXPECT_EQ(connection->counters().pending, 3U);
  server_.resume();
  EXPECT_EQ(answers.front().get()->text().size(), kMebi);
  for (int i = 1; i < 3; ++i) {
    EXPECT_TRUE(answers[static_cast<std::size_t>(i)].get());
  }
  // One that is alone may be larger.
  const auto large = connection->call(Command("ECHO", std::string(5 * kMebi, 'x')), patience());
  EXPECT_EQ(text_of(large).size(), 5 * kMebi);
  EXPECT_EQ(connection->counters().pending, 0U);
}

TEST_F(ConnectionSubmit, ACallbackMaySubmitAgain) {
  const auto connection = open_connection(options_for(server_));
  std::promise<std::int64_t> last;
  std::function<void(Result<Reply>)> next = [&](Result<Reply> reply) {
    if (reply->integer() == 20) {
      last.set_value(20);
    } else {
      connection->submit(Command("INCR", "n"), patience(), next);
    }
  };
  connection->submit(Command("INCR", "n"), patience(), next);
  EXPECT_EQ(last.get_future().get(), 20);
}

TEST_F(ConnectionSubmit, WhatACallbackHasCapturedMaySubmitAsItEnds) {
  const auto connection = open_connection(options_for(server_));
  std::promise<std::string> last;
  std::shared_ptr<void> captured(nullptr, [&](void*) {
    connection->submit(Command("ECHO", "the end"), patience(),
                       [&](const Result<Reply>& reply) { last.set_value(text_of(reply)); });
  });
  connection->submit(Command("PING"), patience(),
                     [captured = std::move(captured)](const Result<Reply>&) {});
  EXPECT_EQ(last.get_future().get(), "the end");
}

TEST_F(ConnectionSubmit, EndsByItsDeadlineUnknownIfSent) {
  const auto connection = open_connection(options_for(server_));
  server_.suspend();
  const auto late = submit(*connection, Command("ECHO", "late"), soon()).get();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::unknown_outcome);
  server_.resume();
  EXPECT_EQ(text_of(submit(*connection, Command("ECHO", "mine"), patience()).get()), "mine");
  EXPECT_EQ(connection->counters().connects, 1U);
}

// While replies to others come, which the submitting thread may read.
TEST_F(ConnectionSubmit, OneWhoseDeadlineHasPassedEndsOnce) {
  constexpr int kRounds = 500;
  const auto connection = open_connection(options_for(server_));
  std::atomic<int> wrong = 0;
  std::atomic<int> answered = 0;
  for (int i = 0; i < kRounds; ++i) {
    connection->submit(Command("PING"), patience(), [&](const Result<Reply>& reply) {
      wrong += reply ? 0 : 1;
      ++answered;
    });
    connection->submit(Command("PING"), base::Deadline::at({}),
                       [&](const Result<Reply>&) { ++answered; });
  }
  EXPECT_TRUE(tests::eventually([&] { return answered == 2 * kRounds; }));
  EXPECT_EQ(wrong, 0);
}

TEST_F(ConnectionSubmit, EndsByItsDeadlineWhileACallerLeads) {
  const auto connection = open_connection(options_for(server_));
  server_.suspend();
  std::jthread leader([&] { (void)connection->call(Command("PING"), patience()); });
  const auto give_up = patience();
  while (connection->counters().pending == 0 && !give_up.expired(base::steady_clock().now())) {
    std::this_thread::yield();
  }
  const auto late = submit(*connection, Command("ECHO", "late"), soon()).get();
  EXPECT_EQ(late.error().code, ErrorCode::unknown_outcome);
  server_.resume();
}

TEST_F(ConnectionSubmit, WithoutAServerNothingIsChanged) {
  RedisOptions options = options_for(server_);
  options.port = 1;
  Connection connection(options);
  for (int i = 0; i < 3; ++i) {
    const auto refused = submit(connection, Command("PING"), soon()).get();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  }
}

TEST_F(ConnectionSubmit, BoundsWhatWaits) {
  RedisOptions options = options_for(server_);
  options.max_pending = 2;
  const auto connection = open_connection(options);
  server_.suspend();
  auto one = submit(*connection, Command("ECHO", "1"), patience());
  auto two = submit(*connection, Command("ECHO", "2"), patience());
  EXPECT_EQ(submit(*connection, Command("ECHO", "3"), patience()).get().error().code,
            ErrorCode::limit_exceeded);
  server_.resume();
  EXPECT_EQ(text_of(one.get()), "1");
  EXPECT_EQ(text_of(two.get()), "2");
}

TEST_F(ConnectionSubmit, AClosedConnectionAnswersWhatIsUnderWayAndCallsGoOn) {
  const auto connection = open_connection(options_for(server_));
  server_.suspend();
  auto under_way = submit(*connection, Command("ECHO", "theirs"), patience());
  auto calling = std::async(std::launch::async,
                            [&] { return connection->call(Command("ECHO", "mine"), patience()); });
  ASSERT_TRUE(
      tests::eventually([&] { return connection->counters().commands >= 3; }));  // with a PING
  connection->close();
  const Result<Reply> unknown = under_way.get();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::unknown_outcome);
  const Result<Reply> refused = submit(*connection, Command("ECHO", "late"), patience()).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  server_.resume();
  EXPECT_EQ(text_of(calling.get()), "mine");
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "more"), patience())), "more");
  EXPECT_EQ(connection->counters().pending, 0U);
}

TEST_F(ConnectionSubmit, TheEndOfTheConnectionAnswersWhatWaits) {
  auto connection = open_connection(options_for(server_));
  server_.suspend();
  auto waiting = submit(*connection, Command("ECHO", "late"), patience());
  connection.reset();
  EXPECT_EQ(waiting.get().error().code, ErrorCode::unknown_outcome);
  server_.resume();
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
