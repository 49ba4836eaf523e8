#include <holdfast/engines/redis/internal/connection.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/engines/redis/internal/connection_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

class ConnectionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<tests::RedisServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

  static inline std::unique_ptr<tests::RedisServer> server_;
};

TEST_F(ConnectionTest, AnswersALoneCaller) {
  const auto connection = open_connection(options_for(*server_));
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "hello"), patience())), "hello");
  EXPECT_EQ(connection->call(Command("INCRBY", "counter", 5), patience())->integer(), 5);
  EXPECT_TRUE(connection->call(Command("GET", "nothing"), patience())->is_nil());
}

TEST_F(ConnectionTest, ReportsWhatTheServerRefusesAsAnError) {
  const auto connection = open_connection(options_for(*server_));
  const auto reply = connection->call(Command("GET"), patience());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::internal);
  EXPECT_TRUE(reply.error().message.contains("wrong number of arguments")) << reply.error().message;
}

constexpr Script kAnswer = {.sha = "0123456789012345678901234567890123456789", .text = "return 42"};

TEST_F(ConnectionTest, SendsTheTextOfAScriptThatTheServerDoesNotKnow) {
  const auto connection = open_connection(options_for(*server_));
  Command command(kAnswer);
  command.add(0);
  EXPECT_EQ(connection->call(command, patience())->integer(), 42);
  for (const auto& reply : connection->call_all(std::vector{command, command}, patience())) {
    EXPECT_EQ(reply->integer(), 42);
  }
  std::promise<std::int64_t> answered;
  connection->submit(command, patience(), [&](const base::Result<Reply>& reply) {
    answered.set_value(reply ? reply->integer() : 0);
  });
  EXPECT_EQ(answered.get_future().get(), 42);
}

TEST_F(ConnectionTest, GivesEachOfManyThreadsItsOwnReplies) {
  constexpr int kThreads = 64;
  constexpr int kRounds = 300;
  const auto connection = open_connection(options_for(*server_));
  const ConnectionCounters before = connection->counters();
  std::atomic<int> wrong = 0;
  std::latch start(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        start.arrive_and_wait();
        for (int i = 0; i < kRounds; ++i) {
          const std::string mine = std::to_string(t) + ":" + std::to_string(i);
          wrong += text_of(connection->call(Command("ECHO", mine), patience())) == mine ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  const ConnectionCounters after = connection->counters();
  EXPECT_EQ(after.commands - before.commands, unsigned{kThreads * kRounds});
  EXPECT_EQ(after.connects, 1U);
}

// While the first of them waits for the connection, the others are queued.
TEST_F(ConnectionTest, OneWriteCarriesTheCommandsOfMany) {
  constexpr unsigned kThreads = 32;
  RedisOptions options = options_for(*server_);
  options.connect_timeout = 60s;
  Connection connection(options);
  server_->suspend();
  std::atomic<unsigned> answered = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back(
          [&] { answered += connection.call(Command("PING"), patience()) ? 1 : 0; });
    }
    const auto give_up = patience();
    while (connection.counters().pending < kThreads &&
           !give_up.expired(base::steady_clock().now())) {
      std::this_thread::yield();
    }
    server_->resume();
  }
  EXPECT_EQ(answered, kThreads);
  EXPECT_EQ(connection.counters().writes, 1U);
  EXPECT_EQ(connection.counters().pending, 0U);
}

TEST_F(ConnectionTest, SendsAPipelineInOneWriteAndKeepsItsOrder) {
  const auto connection = open_connection(options_for(*server_));
  std::vector<Command> commands;
  for (int i = 0; i < 500; ++i) {
    commands.emplace_back("ECHO", std::to_string(i));
  }
  const ConnectionCounters before = connection->counters();
  const auto replies = connection->call_all(commands, patience());
  EXPECT_EQ(connection->counters().writes - before.writes, 1U);
  ASSERT_EQ(replies.size(), commands.size());
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(text_of(replies[i]), std::to_string(i));
  }
  EXPECT_TRUE(connection->call_all({}, patience()).empty());
}

TEST_F(ConnectionTest, PassesMoreThanTheSocketsHold) {
  const auto connection = open_connection(options_for(*server_));
  const std::string big(std::size_t{3} << 20U, 'x');
  std::vector<Command> commands;
  for (int i = 0; i < 8; ++i) {
    commands.emplace_back("ECHO", big);
  }
  for (const auto& reply : connection->call_all(commands, patience())) {
    EXPECT_EQ(text_of(reply).size(), big.size());
  }
}

TEST_F(ConnectionTest, ALateReplyIsNotTakenForAnothers) {
  const auto connection = open_connection(options_for(*server_));
  server_->suspend();
  const auto late = connection->call(Command("ECHO", "late"), soon());
  server_->resume();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "mine"), patience())), "mine");
}

TEST_F(ConnectionTest, ACallerThatLeavesDoesNotDisturbTheOthers) {
  constexpr int kThreads = 16;
  const auto connection = open_connection(options_for(*server_));
  server_->suspend();
  std::atomic<int> wrong = 0;
  std::latch left(kThreads / 2);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const bool leaves = t % 2 == 0;
        const std::string mine = std::to_string(t);
        const auto reply = connection->call(Command("ECHO", mine), leaves ? soon() : patience());
        if (leaves) {
          wrong += !reply && reply.error().code == ErrorCode::unknown_outcome ? 0 : 1;
          left.count_down();
        } else {
          wrong += text_of(reply) == mine ? 0 : 1;
        }
      });
    }
    left.wait();
    server_->resume();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(connection->counters().connects, 1U);
}

TEST_F(ConnectionTest, ADeadlineInThePastSendsNothing) {
  const auto connection = open_connection(options_for(*server_));
  const std::uint64_t before = connection->counters().commands;
  const auto reply = connection->call(Command("PING"), base::Deadline::at(base::TimePoint{}));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_EQ(connection->counters().commands, before);
}

TEST_F(ConnectionTest, BoundsWhatWaits) {
  RedisOptions options = options_for(*server_);
  options.max_pending = 3;
  const auto connection = open_connection(options);
  const std::vector<Command> four(4, Command("PING"));
  EXPECT_EQ(connection->call_all(four, patience())[0].error().code, ErrorCode::limit_exceeded);
  server_->suspend();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(connection->call(Command("PING"), soon()).error().code, ErrorCode::unknown_outcome);
  }
  EXPECT_EQ(connection->call(Command("PING"), soon()).error().code, ErrorCode::limit_exceeded);
  server_->resume();
  // The places become free as the late replies come.
  base::Result<Reply> reply = connection->call(Command("PING"), patience());
  const auto give_up = patience();
  while (!reply && !give_up.expired(base::steady_clock().now())) {
    EXPECT_EQ(reply.error().code, ErrorCode::limit_exceeded);
    reply = connection->call(Command("PING"), patience());
  }
  EXPECT_TRUE(reply);
}

TEST_F(ConnectionTest, AForkedChildIsRefusedAndHarmsNothing) {
  const auto connection = open_connection(options_for(*server_));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto reply = connection->call(Command("PING"), patience());
    const bool is_refused = !reply && reply.error().code == ErrorCode::unsupported;
    const auto replies = connection->call_all(std::vector{Command("PING")}, patience());
    ::_exit(is_refused && !replies[0] ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "still here"), patience())), "still here");
  EXPECT_EQ(connection->counters().connects, 1U);
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
