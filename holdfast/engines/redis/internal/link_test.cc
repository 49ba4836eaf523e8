#include <holdfast/engines/redis/internal/link.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/engines/redis/internal/link_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

class LinkTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<tests::RedisServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

  static inline std::unique_ptr<tests::RedisServer> server_;
};

TEST_F(LinkTest, AnswersALoneCaller) {
  const auto link = open_link(options_for(*server_));
  EXPECT_EQ(text_of(link->call(Command("ECHO", "hello"), patience())), "hello");
  EXPECT_EQ(link->call(Command("INCRBY", "counter", 5), patience())->integer(), 5);
  EXPECT_TRUE(link->call(Command("GET", "nothing"), patience())->is_nil());
}

TEST_F(LinkTest, ReportsWhatTheServerRefusesAsAnError) {
  const auto link = open_link(options_for(*server_));
  const auto reply = link->call(Command("GET"), patience());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::internal);
  EXPECT_TRUE(reply.error().message.contains("wrong number of arguments")) << reply.error().message;
}

constexpr Script kAnswer = {.sha = "0123456789012345678901234567890123456789", .text = "return 42"};

TEST_F(LinkTest, SendsTheTextOfAScriptThatTheServerDoesNotKnow) {
  const auto link = open_link(options_for(*server_));
  Command command(kAnswer);
  command.add(0);
  EXPECT_EQ(link->call(command, patience())->integer(), 42);
  for (const auto& reply : link->call_all(std::vector{command, command}, patience())) {
    EXPECT_EQ(reply->integer(), 42);
  }
  std::promise<std::int64_t> answered;
  link->submit(command, patience(), [&](const base::Result<Reply>& reply) {
    answered.set_value(reply ? reply->integer() : 0);
  });
  EXPECT_EQ(answered.get_future().get(), 42);
}

TEST_F(LinkTest, GivesEachOfManyThreadsItsOwnReplies) {
  constexpr int kThreads = 64;
  constexpr int kRounds = 300;
  const auto link = open_link(options_for(*server_));
  const LinkCounters before = link->counters();
  std::atomic<int> wrong = 0;
  std::latch start(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        start.arrive_and_wait();
        for (int i = 0; i < kRounds; ++i) {
          const std::string mine = std::to_string(t) + ":" + std::to_string(i);
          wrong += text_of(link->call(Command("ECHO", mine), patience())) == mine ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  const LinkCounters after = link->counters();
  EXPECT_EQ(after.commands - before.commands, unsigned{kThreads * kRounds});
  EXPECT_EQ(after.connects, 1U);
}

// While the first of them waits for the connection, the others stand in line.
TEST_F(LinkTest, OneWriteCarriesTheCommandsOfMany) {
  constexpr unsigned kThreads = 32;
  RedisOptions options = options_for(*server_);
  options.connect_timeout = 60s;
  Link link(options);
  server_->suspend();
  std::atomic<unsigned> answered = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] { answered += link.call(Command("PING"), patience()) ? 1 : 0; });
    }
    const auto give_up = patience();
    while (link.counters().pending < kThreads && !give_up.expired(base::steady_clock().now())) {
      std::this_thread::yield();
    }
    server_->resume();
  }
  EXPECT_EQ(answered, kThreads);
  EXPECT_EQ(link.counters().writes, 1U);
  EXPECT_EQ(link.counters().pending, 0U);
}

TEST_F(LinkTest, SendsAPipelineInOneWriteAndKeepsItsOrder) {
  const auto link = open_link(options_for(*server_));
  std::vector<Command> commands;
  for (int i = 0; i < 500; ++i) {
    commands.emplace_back("ECHO", std::to_string(i));
  }
  const LinkCounters before = link->counters();
  const auto replies = link->call_all(commands, patience());
  EXPECT_EQ(link->counters().writes - before.writes, 1U);
  ASSERT_EQ(replies.size(), commands.size());
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(text_of(replies[i]), std::to_string(i));
  }
  EXPECT_TRUE(link->call_all({}, patience()).empty());
}

TEST_F(LinkTest, PassesMoreThanTheSocketsHold) {
  const auto link = open_link(options_for(*server_));
  const std::string big(std::size_t{3} << 20U, 'x');
  std::vector<Command> commands;
  for (int i = 0; i < 8; ++i) {
    commands.emplace_back("ECHO", big);
  }
  for (const auto& reply : link->call_all(commands, patience())) {
    EXPECT_EQ(text_of(reply).size(), big.size());
  }
}

TEST_F(LinkTest, ALateReplyIsNotTakenForAnothers) {
  const auto link = open_link(options_for(*server_));
  server_->suspend();
  const auto late = link->call(Command("ECHO", "late"), soon());
  server_->resume();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(text_of(link->call(Command("ECHO", "mine"), patience())), "mine");
}

TEST_F(LinkTest, ACallerThatLeavesDoesNotDisturbTheOthers) {
  constexpr int kThreads = 16;
  const auto link = open_link(options_for(*server_));
  server_->suspend();
  std::atomic<int> wrong = 0;
  std::latch left(kThreads / 2);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const bool leaves = t % 2 == 0;
        const std::string mine = std::to_string(t);
        const auto reply = link->call(Command("ECHO", mine), leaves ? soon() : patience());
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
  EXPECT_EQ(link->counters().connects, 1U);
}

TEST_F(LinkTest, ADeadlineInThePastSendsNothing) {
  const auto link = open_link(options_for(*server_));
  const std::uint64_t before = link->counters().commands;
  const auto reply = link->call(Command("PING"), base::Deadline::at(base::TimePoint{}));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_EQ(link->counters().commands, before);
}

TEST_F(LinkTest, BoundsWhatWaits) {
  RedisOptions options = options_for(*server_);
  options.max_pending = 3;
  const auto link = open_link(options);
  const std::vector<Command> four(4, Command("PING"));
  EXPECT_EQ(link->call_all(four, patience())[0].error().code, ErrorCode::limit_exceeded);
  server_->suspend();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(link->call(Command("PING"), soon()).error().code, ErrorCode::unknown_outcome);
  }
  EXPECT_EQ(link->call(Command("PING"), soon()).error().code, ErrorCode::limit_exceeded);
  server_->resume();
  // The places become free as the late replies come.
  base::Result<Reply> reply = link->call(Command("PING"), patience());
  const auto give_up = patience();
  while (!reply && !give_up.expired(base::steady_clock().now())) {
    EXPECT_EQ(reply.error().code, ErrorCode::limit_exceeded);
    reply = link->call(Command("PING"), patience());
  }
  EXPECT_TRUE(reply);
}

TEST_F(LinkTest, AForkedChildIsRefusedAndHarmsNothing) {
  const auto link = open_link(options_for(*server_));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto reply = link->call(Command("PING"), patience());
    const bool is_refused = !reply && reply.error().code == ErrorCode::unsupported;
    const auto replies = link->call_all(std::vector{Command("PING")}, patience());
    ::_exit(is_refused && !replies[0] ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of(link->call(Command("ECHO", "still here"), patience())), "still here");
  EXPECT_EQ(link->counters().connects, 1U);
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
