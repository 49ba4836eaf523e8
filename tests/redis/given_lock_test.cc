// Tests of an acquire with a name that a release grants to it.

#include <atomic>
#include <future>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <tests/redis/held_job.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using locks::AcquireOptions;
using locks::Lock;
using locks::OnDestroy;

class GivenLock : public HeldJob {
 protected:
  // In the queue there is a claim, and not only a store.
  bool a_claim_waits() { return run({"ZRANGE", kQueue, "0", "0"}).size() > 40; }

  // Acquires it in a thread, and releases it here when that waits.
  Lock acquire_when_a_claim_waits(const AcquireOptions& how) {
    auto waiter = std::async(std::launch::async, [&] { return provider_.acquire("job", how); });
    EXPECT_TRUE(eventually([this] { return a_claim_waits(); }));
    release("job", first_.id);
    return waiter.get();
  }

  // A message that is not delivered is never found by polling.
  locks::LockProvider provider_{open_store(server_.port()), {.poll_least = 1h, .poll_most = 1h}};
};

TEST_F(GivenLock, EveryLeaseIsWholeWhenTheCallerSeesIt) {
  for (const auto& how :
       {AcquireOptions{.ttl = 10min}, AcquireOptions{.ttl = 10min, .max_hold = 1ms},
        AcquireOptions{.ttl = 10min, .on_destroy = OnDestroy::keep}}) {
    Lock lock = acquire_when_a_claim_waits(how);
    EXPECT_GT(lock.time_left(), 9min);
    const auto all = holders("job");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].id, lock.id());
    EXPECT_EQ(all[0].token, lock.token());
    EXPECT_GT(all[0].time_left, 9min);
    EXPECT_EQ(lock.release(), store::ReleaseOutcome::released);
    expect<store::Grant>(store_->claim("job", first_));
  }
}

TEST_F(GivenLock, AForgedGrantLetsNobodyIn) {
  const int before = calls("evalsha");
  std::atomic<bool> is_in = false;
  std::jthread waiter([&] {
    const Lock lock = provider_.acquire("job", {.ttl = 10min});
    is_in = true;
    EXPECT_EQ(holders("job").at(0).token, lock.token());
    EXPECT_GT(lock.token(), granted_.token);
  });
  // The claim joins the queue before its store listens, and is sent once more when it does.
  ASSERT_TRUE(eventually([&] { return calls("evalsha") == before + 2; }));
  // [store id]
  const std::string member = run({"ZRANGE", kQueue, "0", "0"});
  const std::string channel = "hf:wake:" + member.substr(1, 32);
  const std::string id = member.substr(34, 32);
  const int claims = calls("evalsha");
  ASSERT_EQ(run({"PUBLISH", channel, "grant " + id + " job"}), "1");
  ASSERT_EQ(run({"PUBLISH", channel, "grant 18446744073709551615 " + id + " job"}), "1");
  ASSERT_TRUE(eventually([&] { return calls("evalsha") > claims; })) << "it asks the server";
  EXPECT_FALSE(is_in);
  EXPECT_EQ(holder(), first_.id);
  release("job", first_.id);
}

// Waiters of several providers, as of several processes. A grant that did not reach its waiter at
// once would keep all of them waiting until their time is over.
TEST_F(GivenLock, EveryGrantReachesItsWaiterWithoutAPoll) {
  constexpr int kRounds = 5;
  locks::LockProvider other(open_store(server_.port()), {.poll_least = 1h, .poll_most = 1h});
  std::atomic<int> grants = 0;
  int inside = 0;  // guarded by the lock
  const auto take_turns = [&](locks::LockProvider& provider) {
    for (int round = 0; round < kRounds; ++round) {
      const auto lock = provider.try_acquire("job", {.ttl = 10min, .wait = kPatience});
      if (!lock || !*lock) {
        ADD_FAILURE() << "a grant or a hint was not delivered";
        return;
      }
      EXPECT_GT((*lock)->time_left(), 9min);
      ++inside;
      ++grants;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 40; ++i) {
      threads.emplace_back([&] { take_turns(provider_); });
    }
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { take_turns(other); });
    }
    release("job", first_.id);
  }
  EXPECT_EQ(grants, 44 * kRounds);
  EXPECT_EQ(inside, 44 * kRounds);
}

TEST_F(GivenLock, AWaiterThatTimesOutLeavesTheQueue) {
  EXPECT_FALSE(base::value_or_throw(provider_.try_acquire("job", {.wait = 50ms})));
  EXPECT_EQ(in_queue(), 0);
  release("job", first_.id);
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(GivenLock, AWaiterThatIsCancelledLeavesTheQueue) {
  std::stop_source stop;
  std::jthread waiter([&] {
    const auto lock = provider_.try_acquire("job", {.wait = 10min, .stop = stop.get_token()});
    EXPECT_FALSE(lock.has_value());
  });
  EXPECT_TRUE(eventually([&] { return a_claim_waits(); }));
  stop.request_stop();
  waiter.join();
  EXPECT_EQ(in_queue(), 0);
  release("job", first_.id);
  EXPECT_EQ(holder(), LeaseId());
}

}  // namespace
}  // namespace holdfast::tests
