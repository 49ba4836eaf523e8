#include <atomic>
#include <thread>

#include <tests/mongodb/mongo_test.h>
#include <tests/support/cutting_proxy.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using store::Claim;
using store::Grant;
using store::Permits;
using store::Watch;

// With change streams, and where there are none.
class Wake : public MongoTest, public ::testing::WithParamInterface<bool> {
 protected:
  Wake() : MongoTest({.standalone = GetParam()}) {}
};

TEST_P(Wake, AReleaseThroughAnotherStoreWakes) {
  const Claim holder = wish();
  expect<Grant>(store_->claim("job", holder));
  std::atomic<int> calls = 0;
  const auto waiting = store_on(server_);
  const Watch watch = base::value_or_throw(waiting->watch("job", [&](const auto&) { ++calls; }));
  release("job", holder.id);
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
}

TEST_P(Wake, AReleasedPermitWakes) {
  const Claim one = wish(Permits::of(2, 2));
  expect<Grant>(store_->claim("pool", one));
  const auto waiting = store_on(server_);
  std::atomic<int> calls = 0;
  const Watch watch = base::value_or_throw(waiting->watch("pool", [&](const auto&) { ++calls; }));
  const Claim less = wish(Permits::of(1, 2));
  expect<Grant>(store_->transfer("pool", one.id, less));
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
}

TEST_P(Wake, AWaiterThatIsNoLongerInTheWayWakesTheOthers) {
  const Claim reader = wish(Permits::reader());
  expect<Grant>(store_->claim("data", reader));
  Claim writer = wish(Permits::writer());
  writer.holds_back = 10min;
  expect<store::Busy>(store_->claim("data", writer));
  const auto waiting = store_on(server_);
  expect<store::Busy>(waiting->claim("data", wish(Permits::reader())));
  std::atomic<int> calls = 0;
  const Watch watch = base::value_or_throw(waiting->watch("data", [&](const auto&) { ++calls; }));
  EXPECT_EQ(release("data", writer.id), store::ReleaseOutcome::not_held);
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
  expect<Grant>(waiting->claim("data", wish(Permits::reader())));
}

TEST_P(Wake, ADocumentThatSomebodyDeletesWakes) {
  expect<Grant>(store_->claim("job", wish()));
  std::atomic<int> calls = 0;
  const auto waiting = store_on(server_);
  const Watch watch = base::value_or_throw(waiting->watch("job", [&](const auto&) { ++calls; }));
  run(R"({"delete": "distributed.locks", "deletes": [{"q": {"_id": "job"}, "limit": 1}]})");
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
}

TEST_P(Wake, WaitersOfSeveralStoresTakeTurns) {
  constexpr int kProviders = 2;
  constexpr int kThreads = 4;
  constexpr int kRounds = 10;
  int inside = 0;  // guarded by the lock
  {
    std::vector<std::unique_ptr<locks::LockProvider>> providers;
    std::vector<std::jthread> threads;
    for (int i = 0; i < kProviders; ++i) {
      providers.push_back(std::make_unique<locks::LockProvider>(store_on(server_)));
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
  EXPECT_EQ(inside, kProviders * kThreads * kRounds);
}

INSTANTIATE_TEST_SUITE_P(OnAReplicaSet, Wake, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(OnAServerOfItsOwn, Wake, ::testing::Values(true));

TEST(WakeOfAUserWithFewRights, AUserThatMayNotFollowChangesPolls) {
  const MongoServer server({.must_be_stand_in = true, .own = true});
  MongoClient(server.url()).run("admin", R"({"configureFailPoint": "failCommand",
      "mode": {"times": 1}, "data": {"failCommands": ["aggregate"], "errorCode": 13}})");
  const auto store = store_on(server);
  const Claim holder = wish();
  expect<Grant>(store->claim("job", holder));
  const auto waiting = store_on(server);
  std::atomic<int> calls = 0;
  const Watch watch = base::value_or_throw(waiting->watch("job", [&](const auto&) { ++calls; }));
  EXPECT_EQ(store->release("job", holder.id), store::ReleaseOutcome::released);
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
}

TEST(WakeAfterALoss, AWatcherThatMayHaveMissedSomethingIsCalled) {
  const MongoServer server({.must_be_stand_in = true});
  CuttingProxy proxy(server.port());
  auto options = options_for(server);
  options.uri = server.url_by(proxy.port());
  const auto store = store_on(std::move(options));
  expect<Grant>(store->claim("job", wish()));
  std::atomic<int> calls = 0;
  const Watch watch = base::value_or_throw(store->watch("job", [&](const auto&) { ++calls; }));
  ASSERT_TRUE(eventually([&] { return calls > 0; }));  // from now on it follows
  calls = 1;
  // The next reply may be for another connection than the one that follows the changes.
  unsigned cuts = 0;
  EXPECT_TRUE(eventually([&] {
    if (proxy.lost() == cuts && cuts < 2) {
      proxy.lose_next_reply();
      ++cuts;
    }
    return calls > 1;
  }));
}

}  // namespace
}  // namespace holdfast::tests
