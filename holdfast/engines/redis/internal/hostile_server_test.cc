// A server that is broken or hostile costs its connection, and neither memory nor time without
// bound.

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <tests/support/fake_server.h>
#include <tests/support/patience.h>

#include <holdfast/engines/redis/internal/link.h>
#include <holdfast/engines/redis/internal/link/reply_reader.h>
#include <holdfast/engines/redis/internal/link_testing.h>
#include <holdfast/engines/redis/internal/subscriber_testing.h>
#include <holdfast/engines/redis/redis_store.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using tests::eventually;
using tests::FakeServer;
using namespace std::chrono_literals;

constexpr std::size_t kMebi = std::size_t{1} << 20U;
// What lies in the buffers of both sockets when the client stops to read.
constexpr std::size_t kInSockets = 32 * kMebi;

RedisOptions options_for(const FakeServer& server) {
  return {.host = "127.0.0.1", .port = server.port(), .connect_timeout = 30s};
}

// Until the client has closed.
void send_for_ever(FakeServer::Client& client, const std::string& piece) {
  while (client.send(piece)) {
  }
}

std::string many(std::string_view text, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) {
    all.append(text);
  }
  return all;
}

TEST(HostileServer, AGreetingWithoutEndIsRefused) {
  for (const std::string begin : {"+", "$500000000\r\n", "*1000000\r\n"}) {
    FakeServer server([&](FakeServer::Client& client) {
      client.send(begin);
      send_for_ever(client, many(begin.starts_with('*') ? "+x\r\n" : "x", kMebi));
    });
    Link link(options_for(server));
    const auto reply = link.call(Command("PING"), patience());
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::unavailable) << reply.error().message;
    EXPECT_LT(server.sent(), kInSockets);
  }
}

// It answers the greeting, and the next request with what it was given, for ever.
class Flooding {
 public:
  explicit Flooding(std::string begin, std::string piece)
      : server([begin = std::move(begin), piece = many(piece, kMebi)](FakeServer::Client& client) {
          if (!client.receive().empty() && client.send("+OK\r\n") && !client.receive().empty()) {
            client.send(begin);
            send_for_ever(client, piece);
          }
        }) {}

  FakeServer server;
};

TEST(HostileServer, AReplyWithoutEndIsRefused) {
  for (const auto& [begin, piece] : {std::pair<std::string, std::string>{"$500000000\r\n", "x"},
                                     {"*1000000\r\n", "*1000000\r\n"},
                                     {"*1000000\r\n", "*100\r\n"},
                                     {"*1000000\r\n", "$100\r\n" + std::string(100, 'x') + "\r\n"},
                                     {"", "*1\r\n"}}) {
    Flooding flooding(begin, piece);
    Link link(options_for(flooding.server));
    const auto reply = link.call(Command("PING"), patience());
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::unknown_outcome) << reply.error().message;
    EXPECT_LT(flooding.server.sent(), ReplyLimits{}.bytes + kInSockets);
  }
}

TEST(HostileServer, ManyLargeRepliesToOneCallAreRefused) {
  constexpr std::size_t kCommands = 64;
  const std::string reply = "$8388608\r\n" + std::string(8 * kMebi, 'x') + "\r\n";
  Flooding flooding("", reply);
  Link link(options_for(flooding.server));
  const std::vector<Command> commands(kCommands, Command("PING"));
  const auto replies = link.call_all(commands, patience());
  ASSERT_FALSE(replies.back());
  EXPECT_LT(flooding.server.sent(), ReplyLimits{}.bytes + kInSockets);
}

TEST(HostileServer, AServerThatSendsByteByByteCountsAsDead) {
  FakeServer server([](FakeServer::Client& client) {
    if (client.receive().empty() || !client.send("+OK\r\n") || client.receive().empty()) {
      return;
    }
    while (client.send("+")) {
      std::this_thread::sleep_for(1ms);
    }
  });
  RedisOptions options = options_for(server);
  options.reply_timeout = 100ms;
  Link link(options);
  const auto reply = link.call(Command("PING"), base::Deadline::never());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unknown_outcome);
}

TEST(ReplyReader, RefusesArraysThatAnnounceMoreThanTheirServerMaySend) {
  ReplyReader reader({.bytes = kMebi, .elements = 10});
  ASSERT_TRUE(reader.feed("*5\r\n*3\r\n:1\r\n:2\r\n:3\r\n*3\r\n"));
  const auto reply = reader.next();
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("larger"), std::string::npos) << reply.error().message;
}

TEST(ReplyReader, CountsEachReplyByItself) {
  ReplyReader reader({.bytes = 16, .elements = 2});
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(reader.feed("*2\r\n:1\r\n:2\r\n*2\r\n:1\r\n:2\r\n"));
    for (int each = 0; each < 2; ++each) {
      const auto reply = reader.next();
      ASSERT_TRUE(reply && *reply);
      EXPECT_EQ((*reply)->wire_size(), 12U);
    }
  }
}

// Confirms what is subscribed, and then sends hints without a pause. Others get errors.
class MessageFlood {
 public:
  std::atomic<bool> is_flooding = false;
  FakeServer server{[this](FakeServer::Client& client) {
    for (std::string request; !(request = client.receive()).empty();) {
      const std::size_t channel = request.find("hf:wake:");
      if (!request.contains("SUBSCRIBE")) {
        client.send(request.contains("SETNAME") ? "+OK\r\n" : "-ERR no\r\n");
        continue;
      }
      const std::string name = request.substr(channel, 40);
      const std::string bulk = "$40\r\n" + name + "\r\n";
      client.send("*3\r\n$9\r\nsubscribe\r\n" + bulk + ":1\r\n");
      is_flooding = true;
      send_for_ever(client, many("*3\r\n$7\r\nmessage\r\n" + bulk + "$6\r\nhint x\r\n", kMebi));
    }
  }};
};

TEST(HostileServer, AFloodOfMessagesEndsTheListeningConnection) {
  MessageFlood flood;
  auto store = RedisStore::open(options_for(flood.server));
  ASSERT_TRUE(store);
  const auto watch = (*store)->watch("job", [](const auto&...) {});
  // The first, and the one for commands; then it has to connect again.
  EXPECT_TRUE(eventually([&] { return flood.server.connections() > 3; }));
}

TEST(HostileServer, AStoreEndsUnderAFloodOfMessages) {
  MessageFlood flood;
  auto store = RedisStore::open(options_for(flood.server));
  ASSERT_TRUE(store);
  auto watch = (*store)->watch("job", [](const auto&...) {});
  ASSERT_TRUE(eventually([&] { return flood.is_flooding.load(); }));
  watch->reset();
  store->reset();
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
