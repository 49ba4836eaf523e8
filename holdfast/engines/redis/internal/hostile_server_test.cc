// A server that is broken or hostile costs its connection, and neither memory nor time without
// bound.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <tests/support/fake_server.h>
#include <tests/support/leases.h>
#include <tests/support/patience.h>

#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/connection/reply_reader.h>
#include <holdfast/engines/redis/internal/connection_testing.h>
#include <holdfast/engines/redis/internal/subscriber_testing.h>
#include <holdfast/engines/redis/redis_store.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using tests::eventually;
using tests::FakeServer;
using namespace std::chrono_literals;

constexpr std::size_t kMebi = std::size_t{1} << 20U;
// The bytes in the buffers of both sockets when the client stops reading.
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
    Connection connection(options_for(server));
    const auto reply = connection.call(Command("PING"), patience());
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::unavailable) << reply.error().message;
    EXPECT_LT(server.sent(), kInSockets);
  }
}

TEST(HostileServer, AGreetingThatComesByteByByteEndsAtTheDeadline) {
  FakeServer server([](FakeServer::Client& client) {
    while (client.send("+")) {
      std::this_thread::sleep_for(1ms);
    }
  });
  RedisOptions options = options_for(server);
  options.connect_timeout = 100ms;
  Connection connection(options);
  const auto reply = connection.call(Command("PING"), base::Deadline::never());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(reply.error().message.contains("did not answer in time")) << reply.error().message;
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
    Connection connection(options_for(flooding.server));
    const auto reply = connection.call(Command("PING"), patience());
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::unknown_outcome) << reply.error().message;
    EXPECT_LT(flooding.server.sent(), ReplyLimits{}.bytes + kInSockets);
  }
}

TEST(HostileServer, ManyLargeRepliesToOneCallAreRefused) {
  constexpr std::size_t kCommands = 64;
  const std::string reply = "$8388608\r\n" + std::string(8 * kMebi, 'x') + "\r\n";
  Flooding flooding("", reply);
  Connection connection(options_for(flooding.server));
  const std::vector<Command> commands(kCommands, Command("PING"));
  const auto replies = connection.call_all(commands, patience());
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
  Connection connection(options);
  const auto reply = connection.call(Command("PING"), base::Deadline::never());
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

TEST(ReplyReader, ReadsSevenNestedArraysAndRefusesEight) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) {
      text.append("*1\r\n");
    }
    return text + ":1\r\n";
  };
  ReplyReader seven;
  ASSERT_TRUE(seven.feed(nested(7)));
  const auto accepted = seven.next();
  EXPECT_TRUE(accepted && *accepted);
  ReplyReader eight;
  ASSERT_TRUE(eight.feed(nested(8)));
  const auto refused = eight.next();
  ASSERT_FALSE(refused);
  // Not by the parser's own limit, which depends on its version.
  EXPECT_TRUE(refused.error().message.contains("larger")) << refused.error().message;
}

TEST(ReplyReader, RefusesRepliesOfAnotherProtocolVersion) {
  for (const std::string reply : {",1.5\r\n", "#t\r\n", "%1\r\n+a\r\n+b\r\n", "~1\r\n+a\r\n",
                                  ">1\r\n+a\r\n", "(12345\r\n", "=5\r\ntxt:a\r\n"}) {
    ReplyReader reader;
    ASSERT_TRUE(reader.feed(reply));
    const auto read = reader.next();
    ASSERT_FALSE(read) << reply;
    EXPECT_EQ(read.error().code, ErrorCode::unavailable);
  }
}

// The error that a claim gets from a server that answers every script so.
base::Error error_of_claim(const std::string& answer) {
  FakeServer server([&](FakeServer::Client& client) {
    for (std::string request; !(request = client.receive()).empty();) {
      client.send(request.contains("SETNAME") ? "+OK\r\n" : answer);
    }
  });
  const auto store = base::value_or_throw(open_store(options_for(server)));
  const auto outcome = store->claim("job", tests::wish());
  return outcome ? base::Error{} : outcome.error();
}

TEST(HostileServer, ItsTextIsPrintableInErrors) {
  const std::string forged = "\033[2J\nforged";
  const std::string bulk = "$" + std::to_string(forged.size()) + "\r\n" + forged + "\r\n";
  const base::Error conflict = error_of_claim("*2\r\n$8\r\nconflict\r\n" + bulk);
  EXPECT_EQ(conflict.code, ErrorCode::conflict);
  EXPECT_TRUE(conflict.message.contains("forged"));
  const base::Error refusal = error_of_claim("-ERR \033[2Jforged\r\n");
  for (const base::Error& error : {conflict, refusal}) {
    EXPECT_EQ(std::ranges::count_if(error.message, [](unsigned char c) { return c < ' '; }), 0)
        << error.message;
  }
}

// It answers SUBSCRIBE with a text without end, once.
TEST(HostileServer, AnAnswerToSubscribeWithoutEndIsRefused) {
  std::atomic<bool> has_flooded = false;
  FakeServer server([&](FakeServer::Client& client) {
    for (std::string request; !(request = client.receive()).empty();) {
      if (request.contains("SETNAME")) {
        client.send("+OK\r\n");
      } else if (request.contains("SUBSCRIBE") && !has_flooded.exchange(true)) {
        client.send("$500000000\r\n");
        send_for_ever(client, many("x", kMebi));
      } else {
        return;
      }
    }
  });
  Heard heard;
  Subscriber subscriber(options_for(server), "a", heard.callbacks());
  EXPECT_FALSE(subscriber.start(patience()));
  EXPECT_TRUE(has_flooded);
  EXPECT_LT(server.sent(), ReplyLimits::for_messages().bytes + kInSockets);
}

// Confirms what is subscribed; a hint for a name that nobody watches comes back as a request to
// pass it on. The answer to the first such request comes when all hints have been sent.
class StrayHints {
 public:
  static constexpr int kHints = 4 * 1024;

  std::atomic<int> passed = 0;
  std::atomic<bool> has_sent_all = false;
  std::atomic<bool> is_last_passed = false;
  FakeServer server{[this](FakeServer::Client& client) {
    for (std::string request; !(request = client.receive()).empty();) {
      if (request.contains("SUBSCRIBE")) {
        send_hints(client, request.substr(request.find("hf:wake:"), 40));
        return;
      }
      if (request.contains("stray")) {
        ++passed;
        is_last_passed = is_last_passed || request.contains("stray last");
        EXPECT_TRUE(eventually([&] { return has_sent_all.load(); }));
      }
      // One for each command: that of the watch may come with another.
      for (std::size_t at = 0; (at = request.find("\r\nEVALSHA", at)) != std::string::npos; ++at) {
        client.send("$-1\r\n");
      }
      client.send(request.contains("SETNAME") ? "+OK\r\n" : "");
    }
  }};

 private:
  static std::string message(const std::string& channel, const std::string& text) {
    return "*3\r\n$7\r\nmessage\r\n$40\r\n" + channel + "\r\n$" + std::to_string(text.size()) +
           "\r\n" + text + "\r\n";
  }
  void send_hints(FakeServer::Client& client, const std::string& channel) {
    client.send("*3\r\n$9\r\nsubscribe\r\n$40\r\n" + channel + "\r\n:1\r\n");
    client.send(
        many(message(channel, "hint stray"), kHints * message(channel, "hint stray").size()));
    has_sent_all = true;
    // Hints are passed on in their order: after this one, none of the others is.
    while (!is_last_passed && client.send(message(channel, "hint stray last"))) {
      std::this_thread::sleep_for(5ms);
    }
    static_cast<void>(client.receive());
  }
};

TEST(HostileServer, HintsForNobodyAreKeptInASmallNumber) {
  StrayHints strays;
  const auto store = base::value_or_throw(open_store(options_for(strays.server)));
  const auto watch = store->watch("job", [](const auto&...) {});
  EXPECT_TRUE(eventually([&] { return strays.is_last_passed.load(); }));
  EXPECT_LT(strays.passed, StrayHints::kHints - 512);
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
  auto store = open_store(options_for(flood.server));
  ASSERT_TRUE(store);
  const auto watch = (*store)->watch("job", [](const auto&...) {});
  // The first, and the one for commands; then it has to connect again.
  EXPECT_TRUE(eventually([&] { return flood.server.connections() > 3; }));
}

TEST(HostileServer, AStoreEndsUnderAFloodOfMessages) {
  MessageFlood flood;
  auto store = open_store(options_for(flood.server));
  ASSERT_TRUE(store);
  auto watch = (*store)->watch("job", [](const auto&...) {});
  ASSERT_TRUE(eventually([&] { return flood.is_flooding.load(); }));
  watch->reset();
  store->reset();
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
