#include <holdfast/engines/redis/internal/lookout.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>

#include <holdfast/engines/redis/internal/subscriber_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::Deadline;
using store::Listener;
using tests::RedisServer;

// Begins as soon as the subscriber's thread lets it.
void begin(Listener& listener) {
  const Deadline give_up = patience();
  while (!listener.begin()) {
    ASSERT_FALSE(give_up.expired(base::steady_clock().now()));
    std::this_thread::yield();
  }
}

// A subscriber that hears the channel "a", and a link to publish with.
class Guest : public ::testing::Test {
 protected:
  static RedisOptions hasty(RedisOptions options) {
    options.reply_timeout = std::chrono::milliseconds(200);
    return options;
  }

  void open(const RedisOptions& options) {
    subscriber_ = std::make_unique<Subscriber>(options, heard_.callbacks());
    ASSERT_TRUE(subscriber_->subscribe("a", patience()));
  }
  // Its thread does not wake to see to the connection.
  void open() {
    RedisOptions options = options_for(server_);
    options.reply_timeout = std::chrono::hours(1);
    open(options);
  }
  Listener& listener() { return subscriber_->listener(); }

  void publish(const std::string& payload, const std::string& channel = "a") {
    EXPECT_EQ(link_->call(Command("PUBLISH", channel, payload), patience())->integer(), 1);
  }
  void kill_connection() {
    EXPECT_EQ(link_->call(Command("CLIENT", "KILL", "TYPE", "pubsub"), patience())->integer(), 1);
  }
  // Whether there are `count` in the end.
  bool hear(std::size_t count) {
    const Deadline give_up = patience();
    while (heard_.count() < count && !give_up.expired(base::steady_clock().now())) {
      if (!listener().hear(give_up)) {
        return false;
      }
    }
    return heard_.count() == count;
  }

  // Whether there is nothing to listen to any more in the end.
  bool hear_to_the_end() {
    const Deadline give_up = patience();
    while (!give_up.expired(base::steady_clock().now())) {
      if (!listener().hear(give_up)) {
        return true;
      }
    }
    return false;
  }

  RedisServer server_{{.tls = true}};
  std::unique_ptr<Link> link_ = open_link(options_for(server_));
  Heard heard_;
  std::unique_ptr<Subscriber> subscriber_;
};

TEST_F(Guest, HearsInItsOwnThreadAndWakesNobody) {
  open();
  begin(listener());
  constexpr std::size_t kMessages = 200;
  for (std::size_t i = 1; i <= kMessages; ++i) {
    publish(std::to_string(i));
    ASSERT_TRUE(hear(i));
  }
  listener().end();
  EXPECT_EQ(heard_.count_here(), kMessages);
}

TEST_F(Guest, HearsThroughTls) {
  open(options_of(server_.tls_url()));
  begin(listener());
  const std::string big(std::size_t{1} << 19U, 'x');  // more than a record, and than a buffer
  publish(big);
  publish("2");
  EXPECT_TRUE(hear(2));
  listener().end();
  EXPECT_EQ(heard_.count_here(), 2);
  EXPECT_EQ(heard_.wait_for(2), (Texts{"a:" + big, "a:2"}));
}

TEST_F(Guest, IsAlone) {
  open();
  begin(listener());
  EXPECT_FALSE(listener().begin());
  listener().end();
  begin(listener());
  listener().end();
}

TEST_F(Guest, FindsNothingToListenToBeforeAnythingIsSubscribed) {
  Subscriber subscriber(options_for(server_), heard_.callbacks());
  EXPECT_FALSE(subscriber.listener().begin());
}

TEST_F(Guest, LeavesWhatItHasNotHeardToTheSubscribersThread) {
  open();
  begin(listener());
  publish("1");
  listener().end();
  publish("2");
  EXPECT_EQ(heard_.wait_for(2), (Texts{"a:1", "a:2"}));
  EXPECT_EQ(heard_.count_here(), 0);
}

TEST_F(Guest, IsRoused) {
  open();
  begin(listener());
  listener().rouse();
  EXPECT_TRUE(listener().hear(Deadline::never()));
  {
    const std::jthread rouser([this] { listener().rouse(); });
    EXPECT_TRUE(listener().hear(Deadline::never()));
  }
  const Deadline deadline = soon();
  EXPECT_TRUE(listener().hear(deadline));
  EXPECT_TRUE(deadline.expired(base::steady_clock().now()));  // each rouse counts once
  listener().end();
}

TEST_F(Guest, KeepsItsDeadline) {
  open();
  begin(listener());
  const Deadline deadline = soon();
  EXPECT_TRUE(listener().hear(deadline));
  EXPECT_TRUE(deadline.expired(base::steady_clock().now()));
  listener().end();
}

TEST_F(Guest, GoesWhenTheConnectionIsKilledAndMayComeAgain) {
  open();
  begin(listener());
  kill_connection();
  EXPECT_TRUE(hear_to_the_end());
  listener().end();
  EXPECT_EQ(heard_.wait_for(1), (Texts{":gap"}));
  begin(listener());
  publish("1");
  EXPECT_TRUE(hear(2));
  listener().end();
  EXPECT_EQ(heard_.wait_for(2), (Texts{":gap", "a:1"}));
}

// The answers to the pings of the subscriber's thread are the guest's to hear.
TEST_F(Guest, KeepsTheConnectionAlive) {
  open(hasty(options_for(server_)));
  begin(listener());
  for (int pings = 0; pings < 3; ++pings) {
    ASSERT_TRUE(listener().hear(patience()));
  }
  listener().end();
  EXPECT_TRUE(subscriber_->is_listening());
  EXPECT_EQ(heard_.count(), 0U);
}

TEST_F(Guest, GoesWhenTheServerHangs) {
  open(hasty(options_for(server_)));
  begin(listener());
  server_.suspend();
  EXPECT_TRUE(hear_to_the_end());
  listener().end();
  server_.resume();
  EXPECT_EQ(heard_.wait_for(1).front(), ":gap");
}

TEST_F(Guest, PassesOnWhyTheConnectionFailed) {
  EXPECT_TRUE(
      link_->call(Command("ACL", "SETUSER", "shy", "on", ">word", "+@all", "&a"), patience()));
  RedisOptions options = options_for(server_);
  options.user = "shy";
  options.password = "word";
  open(options);
  begin(listener());
  auto refused =
      std::async(std::launch::async, [this] { return subscriber_->subscribe("b", patience()); });
  EXPECT_TRUE(hear_to_the_end());
  listener().end();
  const auto answer = refused.get();
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("does not let us listen"), std::string::npos);
}

TEST_F(Guest, HearsThatAnotherHasSubscribed) {
  open();
  begin(listener());
  std::atomic<bool> subscribed = false;
  {
    const std::jthread other([&] {
      subscribed = subscriber_->subscribe("b", patience()).has_value();
      listener().rouse();
    });
    while (!subscribed && listener().hear(patience())) {
    }
  }
  EXPECT_TRUE(subscribed);
  publish("1", "b");
  EXPECT_TRUE(hear(1));
  listener().end();
}

TEST_F(Guest, LeavesChoresToTheSubscribersThread) {
  std::atomic<bool> called = false;
  std::atomic<std::thread::id> does_chores;
  Subscriber* told = nullptr;
  Subscriber subscriber(options_for(server_), {.on_message =
                                                   [&](std::string_view, std::string_view) {
                                                     called = true;
                                                     told->call_for_chores();
                                                   },
                                               .on_gap = [] {},
                                               .chores =
                                                   [&] {
                                                     if (called) {
                                                       does_chores = std::this_thread::get_id();
                                                       told->listener().rouse();
                                                     }
                                                   }});
  told = &subscriber;
  ASSERT_TRUE(subscriber.subscribe("a", patience()));
  begin(subscriber.listener());
  publish("1");
  const Deadline give_up = patience();
  while (does_chores.load() == std::thread::id() && !give_up.expired(base::steady_clock().now()) &&
         subscriber.listener().hear(give_up)) {
  }
  subscriber.listener().end();
  EXPECT_TRUE(called);
  EXPECT_NE(does_chores.load(), std::thread::id());
  EXPECT_NE(does_chores.load(), std::this_thread::get_id());
}

TEST_F(Guest, IsNotOfAForkedChild) {
  open();
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(listener().begin() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  begin(listener());
  publish("1");
  EXPECT_TRUE(hear(1));
  listener().end();
}

using Host = Guest;

TEST_F(Host, SleepsThoughAForkedChildHasTheSocketThatWasLost) {
  std::atomic<int> turns = 0;
  Subscriber::Callbacks callbacks = heard_.callbacks();
  callbacks.chores = [&] { ++turns; };
  Subscriber subscriber(options_for(server_), std::move(callbacks));
  ASSERT_TRUE(subscriber.subscribe("a", patience()));
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  kill_connection();
  EXPECT_EQ(heard_.wait_for(1), (Texts{":gap"}));
  const int before = turns;
  EXPECT_FALSE(poll_until({}, soon()));
  EXPECT_LE(turns - before, 10);
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

// Guests come and go, the connection breaks now and then, and each message that is published on a
// connection that lasts is heard once, in order.
TEST_F(Guest, AndHostMissNothingBetweenThem) {
  open();
  std::atomic<bool> done = false;
  const auto come_and_go = [&] {
    while (!done) {
      if (listener().begin()) {
        static_cast<void>(
            listener().hear(Deadline::after(base::steady_clock(), std::chrono::microseconds(200))));
        listener().end();
      }
    }
  };
  Texts expected;
  {
    const std::jthread one(come_and_go);
    const std::jthread two(come_and_go);
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 500; ++i) {
        publish(std::to_string(i));
        expected.push_back("a:" + std::to_string(i));
      }
      EXPECT_EQ(heard_.wait_for(expected.size()).size(), expected.size());
      kill_connection();
      expected.emplace_back(":gap");
      EXPECT_EQ(heard_.wait_for(expected.size()).size(), expected.size());
    }
    done = true;
  }
  EXPECT_EQ(heard_.wait_for(expected.size()), expected);
  EXPECT_TRUE(subscriber_->is_listening());
  begin(listener());
  listener().end();
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
