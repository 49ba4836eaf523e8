#include <holdfast/engines/redis/internal/subscriber.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <tests/support/free_port.h>
#include <tests/support/patience.h>

#include <holdfast/engines/redis/internal/subscriber_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using tests::RedisServer;

TEST(Subscriber, HearsWhatIsPublishedAfterItSubscribed) {
  RedisServer server;
  Heard heard;
  Subscriber subscriber(options_for(server), "a", heard.callbacks());
  ASSERT_TRUE(subscriber.start(patience()));
  EXPECT_TRUE(subscriber.is_listening());
  const auto connection = open_connection(options_for(server));
  EXPECT_EQ(connection->call(Command("PUBLISH", "a", "1"), patience())->integer(), 1);
  EXPECT_EQ(connection->call(Command("PUBLISH", "a", "2"), patience())->integer(), 1);
  EXPECT_EQ(heard.wait_for(2), (Texts{"1", "2"}));
}

TEST(Subscriber, SaysThatItMayHaveMissedSomethingAndHearsAgain) {
  RedisServer server;
  Heard heard;
  Subscriber subscriber(options_for(server), "a", heard.callbacks());
  ASSERT_TRUE(subscriber.start(patience()));
  server.restart();
  EXPECT_EQ(heard.wait_for(1), (Texts{"a gap"}));
  const auto connection = open_connection(options_for(server));
  EXPECT_EQ(connection->call(Command("PUBLISH", "a", "1"), patience())->integer(), 1);
  EXPECT_EQ(heard.wait_for(2), (Texts{"a gap", "1"}));
}

TEST(Subscriber, ComesBackWhenItsConnectionIsKilled) {
  RedisServer server;
  Heard heard;
  Subscriber subscriber(options_for(server), "a", heard.callbacks());
  ASSERT_TRUE(subscriber.start(patience()));
  const auto connection = open_connection(options_for(server));
  EXPECT_EQ(connection->call(Command("CLIENT", "KILL", "TYPE", "pubsub"), patience())->integer(),
            1);
  EXPECT_EQ(heard.wait_for(1), (Texts{"a gap"}));
  EXPECT_TRUE(subscriber.is_listening());
}

TEST(Subscriber, NoticesThatTheServerHangs) {
  RedisServer server;
  RedisOptions options = options_for(server);
  options.reply_timeout = std::chrono::milliseconds(50);
  Heard heard;
  Subscriber subscriber(options, "a", heard.callbacks());
  // Such a short timeout may end an attempt on a busy machine, too.
  ASSERT_TRUE(tests::eventually([&] { return subscriber.start(patience()).has_value(); }));
  server.suspend();
  const auto give_up = patience();
  while (subscriber.is_listening() && !give_up.expired(base::steady_clock().now())) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(subscriber.is_listening());
  server.resume();
  const Texts texts = heard.wait_for(1);
  ASSERT_FALSE(texts.empty());
  EXPECT_EQ(texts.front(), "a gap");
}

TEST(Subscriber, ReportsAServerThatDoesNotListen) {
  Heard heard;
  const tests::ClosedPort nobody;
  Subscriber subscriber({.host = "127.0.0.1", .port = nobody.number()}, "a", heard.callbacks());
  const auto subscribed = subscriber.start(base::Deadline::never());
  ASSERT_FALSE(subscribed);
  EXPECT_EQ(subscribed.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(subscriber.is_listening());
}

TEST(Subscriber, ConnectsAgainThoughAForkedChildHasTheSocketThatWasLost) {
  RedisServer server;
  Heard heard;
  Subscriber subscriber(options_for(server), "a", heard.callbacks());
  ASSERT_TRUE(subscriber.start(patience()));
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto connection = open_connection(options_for(server));
  EXPECT_EQ(connection->call(Command("CLIENT", "KILL", "TYPE", "pubsub"), patience())->integer(),
            1);
  EXPECT_EQ(heard.wait_for(1), (Texts{"a gap"}));
  EXPECT_EQ(connection->call(Command("PUBLISH", "a", "1"), patience())->integer(), 1);
  EXPECT_EQ(heard.wait_for(2), (Texts{"a gap", "1"}));
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(Subscriber, HearsThroughTls) {
  RedisServer server({.tls = true});
  Heard heard;
  Subscriber subscriber(options_of(server.tls_url()), "a", heard.callbacks());
  ASSERT_TRUE(subscriber.start(patience()));
  const std::string big(std::size_t{1} << 19U, 'x');  // more than a record, and than a buffer
  const auto connection = open_connection(options_for(server));
  EXPECT_EQ(connection->call(Command("PUBLISH", "a", big), patience())->integer(), 1);
  EXPECT_EQ(connection->call(Command("PUBLISH", "a", "2"), patience())->integer(), 1);
  EXPECT_EQ(heard.wait_for(2), (Texts{big, "2"}));
}

TEST(Subscriber, SaysThatTheServerDoesNotLetItListen) {
  RedisServer server;
  const auto connection = open_connection(options_for(server));
  EXPECT_TRUE(
      connection->call(Command("ACL", "SETUSER", "shy", "on", ">word", "+@all", "&b"), patience()));
  RedisOptions options = options_for(server);
  options.user = "shy";
  options.password = "word";
  Heard heard;
  Subscriber subscriber(options, "a", heard.callbacks());
  const auto refused = subscriber.start(patience());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("does not let us listen"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
