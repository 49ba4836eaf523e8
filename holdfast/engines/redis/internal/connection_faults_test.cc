#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/cutting_proxy.h>
#include <tests/support/fake_server.h>
#include <tests/support/free_port.h>

#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/connection_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using tests::CuttingProxy;
using tests::RedisServer;
using namespace std::chrono_literals;

// A call until one gets through; the others must say that nothing was changed.
base::Result<Reply> call_until_answered(Connection& connection, const Command& command) {
  const auto give_up = patience();
  base::Result<Reply> reply = connection.call(command, give_up);
  while (!reply && reply.error().code == ErrorCode::unavailable &&
         !give_up.expired(base::steady_clock().now())) {
    reply = connection.call(command, give_up);
  }
  return reply;
}

TEST(ConnectionFaults, ALostReplyIsUnknownAndTheCommandWasCarriedOut) {
  RedisServer server;
  CuttingProxy proxy(server.port());
  const auto connection = open_connection({.host = "127.0.0.1", .port = proxy.port()});
  proxy.lose_next_reply();
  const auto reply = connection->call(Command("INCR", "n"), patience());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(proxy.lost(), 1U);
  EXPECT_EQ(connection->call(Command("INCR", "n"), patience())->integer(), 2);
  EXPECT_EQ(connection->counters().connects, 2U);
}

TEST(ConnectionFaults, ALostRequestIsUnknownToo) {
  RedisServer server;
  CuttingProxy proxy(server.port());
  const auto connection = open_connection({.host = "127.0.0.1", .port = proxy.port()});
  proxy.lose_next_request();
  const auto reply = connection->call(Command("INCR", "n"), patience());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(connection->call(Command("INCR", "n"), patience())->integer(), 1);
}

TEST(ConnectionFaults, OfACutPipelineTheAnsweredPartIsKnown) {
  RedisServer server;
  const auto connection = open_connection(options_for(server));
  const std::vector<Command> commands = {
      Command("ECHO", "first"), Command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"),
      Command("ECHO", "never")};
  const auto replies = connection->call_all(commands, patience());
  EXPECT_EQ(text_of(replies[0]), "first");
  ASSERT_FALSE(replies[2]);
  EXPECT_EQ(replies[2].error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "again"), patience())), "again");
}

TEST(ConnectionFaults, AConnectionClosedWhileIdleIsMadeAnewWithoutAWord) {
  RedisServer server;
  const auto connection = open_connection(options_for(server));
  server.restart();
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "back"), patience())), "back");
  EXPECT_EQ(connection->counters().connects, 2U);
}

TEST(ConnectionFaults, AServerKilledUnderLoadEndsEveryCallAndIsFoundAgain) {
  constexpr int kThreads = 16;
  RedisServer server;
  const auto connection = open_connection(options_for(server));
  std::atomic<int> answered = 0;
  std::atomic<int> failed = 0;
  std::atomic<int> wrong = 0;
  std::atomic<bool> is_back = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        bool done = false;
        for (int i = 0; !done; ++i) {
          done = is_back;
          const std::string mine = std::to_string(t) + ":" + std::to_string(i);
          const auto reply = connection->call(Command("ECHO", mine), patience());
          if (reply) {
            wrong += reply->text() == mine ? 0 : 1;
            ++answered;
          } else {
            wrong += reply.error().code == ErrorCode::unavailable ||
                             reply.error().code == ErrorCode::unknown_outcome
                         ? 0
                         : 1;
            ++failed;
            done = false;
          }
        }
      });
    }
    while (answered < 1000) {
      std::this_thread::yield();
    }
    server.kill();
    while (failed < kThreads) {
      std::this_thread::yield();
    }
    server.restart();
    is_back = true;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ConnectionFaults, ACallOnAHungServerEndsByItsDeadline) {
  RedisServer server;
  const auto connection = open_connection(options_for(server));
  server.suspend();
  const auto reply = connection->call(Command("PING"), soon());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unknown_outcome);
  server.resume();
}

TEST(ConnectionFaults, ACallWithoutADeadlineEndsOnAHungServerToo) {
  RedisServer server;
  RedisOptions options = options_for(server);
  options.reply_timeout = 100ms;
  const auto connection = open_connection(options);
  server.suspend();
  const auto reply = connection->call(Command("PING"), base::Deadline::never());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unknown_outcome);
  server.resume();
  const auto again = call_until_answered(*connection, Command("ECHO", "again"));
  EXPECT_EQ(text_of(again), "again");
  EXPECT_EQ(connection->counters().connects, 2U);
}

TEST(ConnectionFaults, AConnectionToNobodySaysWhereAndWhy) {
  const tests::ClosedPort nobody;
  Connection connection({.host = "127.0.0.1", .port = nobody.number()});
  const auto reply = connection.call(Command("PING"), patience());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_NE(reply.error().message.find("127.0.0.1:" + std::to_string(nobody.number())),
            std::string::npos);
  EXPECT_NE(reply.error().message.find("refused"), std::string::npos) << reply.error().message;
}

// Takes connections, and answers the first request with OK and the next with what it was given.
class FakeServer {
 public:
  explicit FakeServer(std::string answer)
      : listener_(tests::listen_on_free_port(port_)),
        thread_([this, answer = std::move(answer)] { serve(answer); }) {}
  ~FakeServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  void serve(const std::string& answer) const {
    for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
      std::array<char, 4096> request;
      for (const std::string& reply : {std::string("+OK\r\n"), answer}) {
        if (::recv(client, request.data(), request.size(), 0) > 0) {
          static_cast<void>(::send(client, reply.data(), reply.size(), MSG_NOSIGNAL));
        }
      }
      // Until the other end has closed.
      static_cast<void>(::recv(client, request.data(), request.size(), 0));
    }
  }

  std::uint16_t port_ = 0;
  const int listener_;
  std::thread thread_;
};

TEST(ConnectionFaults, AServerThatSpeaksAnotherLanguageIsNotBelieved) {
  for (const std::string answer : {"HTTP/1.1 400 Bad Request\r\n", "*2000000\r\n"}) {
    FakeServer server(answer);
    Connection connection({.host = "127.0.0.1", .port = server.port(), .connect_timeout = 30s});
    for (const unsigned connects : {1U, 2U}) {
      const auto reply = connection.call(Command("PING"), patience());
      ASSERT_FALSE(reply);
      EXPECT_EQ(reply.error().code, ErrorCode::unknown_outcome);
      EXPECT_EQ(connection.counters().connects, connects);
    }
  }
}

TEST(ConnectionFaults, AReplyThatNobodyAskedForEndsTheConnection) {
  FakeServer server("+PONG\r\n+AGAIN\r\n");
  Connection connection({.host = "127.0.0.1", .port = server.port(), .connect_timeout = 30s});
  for (const unsigned connects : {1U, 2U}) {
    EXPECT_EQ(text_of(connection.call(Command("PING"), patience())), "PONG");
    EXPECT_EQ(connection.counters().connects, connects);
  }
}

// The first connection reaches a server that takes no commands now, later ones another server.
class UnfitServer : public ::testing::TestWithParam<const char*> {
 protected:
  tests::FakeServer server_{[](tests::FakeServer::Client& client) {
    for (std::string request; !(request = client.receive()).empty();) {
      const bool is_greeting = request.contains("SETNAME");
      const bool is_unfit = client.number() == 0;
      client.send(is_greeting ? "+OK\r\n"
                  : is_unfit  ? "-" + std::string(GetParam()) + " takes no commands now\r\n"
                              : "+DONE\r\n");
    }
  }};
  Connection connection_{{.host = "127.0.0.1", .port = server_.port(), .connect_timeout = 30s}};
};

TEST_P(UnfitServer, IsLeftAtOnceAndTheCallSentAgain) {
  EXPECT_EQ(text_of(connection_.call(Command("INCR", "n"), patience())), "DONE");
  EXPECT_EQ(connection_.counters().connects, 2U);
}

TEST_P(UnfitServer, IsLeftByASubmissionToo) {
  std::atomic<int> calls = 0;
  connection_.on_unfit([&] { ++calls; });
  std::promise<base::Result<Reply>> answered;
  connection_.submit(Command("INCR", "n"), patience(),
                     [&](base::Result<Reply> reply) { answered.set_value(std::move(reply)); });
  EXPECT_EQ(text_of(answered.get_future().get()), "DONE");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(connection_.counters().connects, 2U);
}

INSTANTIATE_TEST_SUITE_P(ConnectionFaults, UnfitServer,
                         ::testing::Values("READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN"),
                         [](const auto& word) { return std::string(word.param); });

TEST(ConnectionFaults, AnUnknownHostIsNamed) {
  Connection connection({.host = "no.such.host.invalid", .connect_timeout = 30s});
  const auto reply = connection.call(Command("PING"), patience());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_NE(reply.error().message.find("no.such.host.invalid"), std::string::npos);
}

TEST(ConnectionFaults, ManyCallersOfADeadServerAllHear) {
  const tests::ClosedPort nobody;
  Connection connection({.host = "127.0.0.1", .port = nobody.number()});
  std::atomic<int> unavailable = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 3; ++i) {
          const auto reply = connection.call(Command("PING"), base::Deadline::never());
          unavailable += !reply && reply.error().code == ErrorCode::unavailable ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(unavailable, 48);
}

TEST(ConnectionFaults, ACallThatCannotWaitForTheNextAttemptFailsAtOnce) {
  const tests::ClosedPort nobody;
  Connection connection({.host = "127.0.0.1", .port = nobody.number()});
  const auto pauses_grow = patience();
  std::string message;
  while (message.find("next attempt") == std::string::npos &&
         !pauses_grow.expired(base::steady_clock().now())) {
    static_cast<void>(connection.call(Command("PING"), base::Deadline::never()));
    message = to_string(
        connection.call(Command("PING"), base::Deadline::after(base::steady_clock(), 1ms)).error());
  }
  EXPECT_NE(message.find("next attempt"), std::string::npos) << message;
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
