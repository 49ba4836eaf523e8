#include <holdfast/engines/redis/internal/subscriber.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

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

// A route on which somebody says, while the first connection is being opened, where the server is.
class RouteThatMoves final : public Route {
 public:
  RouteThatMoves(const RedisOptions& options, std::function<void()> move)
      : route_(route_to(options)), move_(std::move(move)) {}

  base::Result<Opened> open(base::Deadline deadline) override {
    auto opened = route_->open(deadline);
    if (opened && ++opened_ == 1) {
      move_();
    }
    return opened;
  }
  [[nodiscard]] int opened() const { return opened_; }

 private:
  const std::shared_ptr<Route> route_;
  const std::function<void()> move_;
  std::atomic<int> opened_ = 0;
};

TEST(Subscriber, ConnectsAgainOnlyIfAnotherServerBecameTheRightOne) {
  RedisServer server;
  for (const bool is_another : {false, true}) {
    Heard heard;
    RedisOptions options = options_for(server);
    options.connect_timeout = std::chrono::seconds(30);
    Subscriber* moving = nullptr;
    const auto route = std::make_shared<RouteThatMoves>(options, [&] {
      moving->move_to(is_another ? "another.example:1" : server_address(options));
    });
    Subscriber subscriber(options, "a", heard.callbacks(), route);
    moving = &subscriber;
    EXPECT_EQ(subscriber.start(patience()).has_value(), !is_another);
    EXPECT_TRUE(tests::eventually([&] { return subscriber.is_listening(); }));
    EXPECT_EQ(route->opened(), is_another ? 2 : 1);
  }
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
