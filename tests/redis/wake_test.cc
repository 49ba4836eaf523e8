#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <tests/redis/redis_test.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using store::Busy;
using store::Claim;
using store::Grant;
using store::Permits;

// A store that has tried to get the name, and waits for it.
struct Waiting {
  Waiting(std::uint16_t port, std::string_view name, Permits permits = {})
      : store(open_store(port)),
        watch(base::value_or_throw(store->watch(name, [this](const auto&) { ++calls; }))) {
    expect<Busy>(store->claim(name, wish(permits)));
  }

  std::atomic<int> calls = 0;
  std::unique_ptr<store::LeaseStore> store;
  store::Watch watch;
};

using Wake = RedisTest;

TEST_F(Wake, AReleaseWakesOneOfTheStoresThatWait) {
  const Claim holder = wish();
  expect<Grant>(store_->claim("job", holder));
  const Waiting first(server_.port(), "job");
  const Waiting second(server_.port(), "job");
  const Waiting third(server_.port(), "job");
  release("job", holder.id);
  EXPECT_TRUE(eventually([&] { return first.calls == 1; }));
  EXPECT_EQ(calls("publish"), 1);
  EXPECT_EQ(second.calls + third.calls, 0);
  EXPECT_EQ(run({"ZCARD", "hfq:{job}"}), "2");
}

TEST_F(Wake, AReleaseThatRemovesNothingWakesNobody) {
  const Claim holder = wish();
  expect<Grant>(store_->claim("job", holder));
  const Waiting waiting(server_.port(), "job");
  EXPECT_EQ(release("job", base::LeaseId::generate()), store::ReleaseOutcome::not_held);
  EXPECT_EQ(calls("publish"), 0);
}

TEST_F(Wake, AReleaseByAUserThatMayNotPublishIsDoneAllTheSame) {
  run({"ACL", "SETUSER", "mute", "on", ">word", "~*", "+@all", "resetchannels"});
  const auto mute = base::value_or_throw(engines::redis::open_store(
      {.host = "127.0.0.1", .port = server_.port(), .user = "mute", .password = "word"}));
  const Claim holder = wish();
  expect<Grant>(mute->claim("job", holder));
  const Waiting waiting(server_.port(), "job");
  EXPECT_EQ(mute->release("job", holder.id), store::ReleaseOutcome::released);
  EXPECT_EQ(run({"EXISTS", "job"}), "0");
}

TEST_F(Wake, AStoreThatHasEndedIsPassedOver) {
  const Claim holder = wish();
  expect<Grant>(store_->claim("job", holder));
  {
    const Waiting gone(server_.port(), "job");
  }
  const Waiting waiting(server_.port(), "job");
  // The server may not have noticed yet.
  ASSERT_TRUE(eventually(
      [&] { return run({"PUBSUB", "CHANNELS", "hf:*"}).find(' ') == std::string::npos; }));
  release("job", holder.id);
  EXPECT_TRUE(eventually([&] { return waiting.calls == 1; }));
  EXPECT_EQ(run({"ZCARD", "hfq:{job}"}), "0");
}

TEST_F(Wake, AStoreWhereNobodyWaitsAnyMorePassesTheHintOn) {
  const Claim holder = wish();
  expect<Grant>(store_->claim("job", holder));
  Waiting given_up(server_.port(), "job");
  const Waiting waiting(server_.port(), "job");
  given_up.watch.reset();
  release("job", holder.id);
  EXPECT_TRUE(eventually([&] { return waiting.calls == 1; }));
}

TEST_F(Wake, AWatcherThatOnlyLooksPassesTheHintOn) {
  const Claim holder = wish();
  expect<Grant>(store_->claim("job", holder));
  const Waiting looking(server_.port(), "job");
  const Waiting waiting(server_.port(), "job");
  release("job", holder.id);
  ASSERT_TRUE(eventually([&] { return looking.calls == 1; }));
  EXPECT_FALSE(base::value_or_throw(looking.store->look("job")));
  EXPECT_TRUE(eventually([&] { return waiting.calls == 1; }));
}

TEST_F(Wake, AHintIsNoGrant) {
  const Claim holder = wish();
  expect<Grant>(store_->claim("job", holder));
  const Waiting waiting(server_.port(), "job");
  release("job", holder.id);
  expect<Grant>(store_->claim("job", wish()));
}

TEST_F(Wake, WhereThereIsRoomForSeveralEachWakesTheNext) {
  const Claim writer = wish(Permits::writer());
  expect<Grant>(store_->claim("data", writer));
  const Waiting one(server_.port(), "data", Permits::reader());
  const Waiting two(server_.port(), "data", Permits::reader());
  release("data", writer.id);
  ASSERT_TRUE(eventually([&] { return one.calls == 1; }));
  expect<Grant>(one.store->claim("data", wish(Permits::reader())));
  EXPECT_TRUE(eventually([&] { return two.calls == 1; }));
}

TEST_F(Wake, AWatcherThatMissedMessagesIsCalled) {
  expect<Grant>(store_->claim("job", wish()));
  const Waiting waiting(server_.port(), "job");
  run({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(eventually([&] { return waiting.calls > 0; }));
}

// Waiters of several providers, as of several processes, take turns on one name. What each grant
// costs the server is counted there.
TEST_F(Wake, AGrantToOneOfManyWaitersCostsAboutTwoRequests) {
  constexpr int kProviders = 2;
  constexpr int kThreads = 16;
  constexpr int kRounds = 40;
  int inside = 0;  // guarded by the lock
  {
    std::vector<std::unique_ptr<locks::LockProvider>> providers;
    std::vector<std::jthread> threads;
    for (int i = 0; i < kProviders; ++i) {
      providers.push_back(std::make_unique<locks::LockProvider>(open_store(server_.port())));
    }
    for (int i = 0; i < kProviders * kThreads; ++i) {
      threads.emplace_back(
          [&inside, &provider = *providers[static_cast<std::size_t>(i % kProviders)]] {
            for (int round = 0; round < kRounds; ++round) {
              const auto lock = provider.acquire("job", {.ttl = 10min});
              ++inside;
            }
          });
    }
    threads.clear();
  }
  constexpr int kGrants = kProviders * kThreads * kRounds;
  EXPECT_EQ(inside, kGrants);
  EXPECT_LE(calls("evalsha"), kGrants * 5 / 2);
}

}  // namespace
}  // namespace holdfast::tests
