#include <holdfast/engines/redis/internal/subscriber.h>

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>
#include <tests/support/free_port.h>

#include <holdfast/engines/redis/internal/subscriber_channels.h>
#include <holdfast/engines/redis/internal/subscriber_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using tests::RedisServer;

TEST(Subscriber, HearsWhatIsPublishedAfterItSubscribed) {
  RedisServer server;
  Heard heard;
  Subscriber subscriber(options_for(server), heard.callbacks());
  ASSERT_TRUE(subscriber.subscribe("a", patience()));
  ASSERT_TRUE(subscriber.subscribe("b", patience()));
  EXPECT_TRUE(subscriber.is_listening());
  const auto link = open_link(options_for(server));
  EXPECT_EQ(link->call(Command("PUBLISH", "a", "1"), patience())->integer(), 1);
  EXPECT_EQ(link->call(Command("PUBLISH", "b", "2"), patience())->integer(), 1);
  EXPECT_EQ(heard.wait_for(2), (Texts{"a:1", "b:2"}));
}

TEST(Subscriber, NoLongerHearsAChannelThatItLeft) {
  RedisServer server;
  Heard heard;
  Subscriber subscriber(options_for(server), heard.callbacks());
  ASSERT_TRUE(subscriber.subscribe("a", patience()));
  subscriber.unsubscribe("a");
  ASSERT_TRUE(subscriber.subscribe("b", patience()));
  const auto link = open_link(options_for(server));
  EXPECT_EQ(link->call(Command("PUBLISH", "a", "1"), patience())->integer(), 0);
  EXPECT_EQ(link->call(Command("PUBLISH", "b", "2"), patience())->integer(), 1);
  EXPECT_EQ(heard.wait_for(1), (Texts{"b:2"}));
}

TEST(Subscriber, SaysThatItMayHaveMissedSomethingAndHearsAgain) {
  RedisServer server;
  Heard heard;
  Subscriber subscriber(options_for(server), heard.callbacks());
  ASSERT_TRUE(subscriber.subscribe("a", patience()));
  server.restart();
  EXPECT_EQ(heard.wait_for(1), (Texts{":gap"}));
  const auto link = open_link(options_for(server));
  EXPECT_EQ(link->call(Command("PUBLISH", "a", "1"), patience())->integer(), 1);
  EXPECT_EQ(heard.wait_for(2), (Texts{":gap", "a:1"}));
}

TEST(Subscriber, ComesBackWhenItsConnectionIsKilled) {
  RedisServer server;
  Heard heard;
  Subscriber subscriber(options_for(server), heard.callbacks());
  ASSERT_TRUE(subscriber.subscribe("a", patience()));
  const auto link = open_link(options_for(server));
  EXPECT_EQ(link->call(Command("CLIENT", "KILL", "TYPE", "pubsub"), patience())->integer(), 1);
  EXPECT_EQ(heard.wait_for(1), (Texts{":gap"}));
  EXPECT_TRUE(subscriber.is_listening());
}

TEST(Subscriber, NoticesThatTheServerHangs) {
  RedisServer server;
  RedisOptions options = options_for(server);
  options.reply_timeout = std::chrono::milliseconds(50);
  Heard heard;
  Subscriber subscriber(options, heard.callbacks());
  ASSERT_TRUE(subscriber.subscribe("a", patience()));
  server.suspend();
  const auto give_up = patience();
  while (subscriber.is_listening() && !give_up.expired(base::steady_clock().now())) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(subscriber.is_listening());
  server.resume();
  EXPECT_EQ(heard.wait_for(1).front(), ":gap");
}

TEST(Subscriber, TellsThatNobodyIsThereAndGoesOnTrying) {
  Heard heard;
  const tests::ClosedPort nobody;
  Subscriber subscriber({.host = "127.0.0.1", .port = nobody.number()}, heard.callbacks());
  const auto subscribed = subscriber.subscribe("a", base::Deadline::never());
  ASSERT_FALSE(subscribed);
  EXPECT_EQ(subscribed.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(subscriber.is_listening());
}

TEST(Subscriber, CanBeDestroyedByAForkedChild) {
  RedisServer server;
  Heard heard;
  auto subscriber = std::make_unique<Subscriber>(options_for(server), heard.callbacks());
  ASSERT_TRUE(subscriber->subscribe("a", patience()));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto refused = subscriber->subscribe("b", patience());
    subscriber.reset();
    ::_exit(!refused && refused.error().code == ErrorCode::unsupported ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const auto link = open_link(options_for(server));
  EXPECT_EQ(link->call(Command("PUBLISH", "a", "1"), patience())->integer(), 1);
  EXPECT_EQ(heard.wait_for(1), (Texts{"a:1"}));
}

TEST(SubscriberChannels, TellsTheServerOnlyWhatIsNew) {
  SubscriberChannels channels;
  channels.want("a");
  EXPECT_EQ(channels.take_changes().subscribe, (Texts{"a"}));
  EXPECT_TRUE(channels.take_changes().subscribe.empty());
  EXPECT_FALSE(channels.is_confirmed("a"));
  channels.confirm("a");
  EXPECT_TRUE(channels.all_confirmed());
  channels.forget_progress();
  EXPECT_EQ(channels.take_changes().subscribe, (Texts{"a"}));
  channels.drop("a");
  EXPECT_EQ(channels.take_changes().unsubscribe, (Texts{"a"}));
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
