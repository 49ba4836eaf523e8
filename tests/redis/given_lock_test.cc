// What an acquire does with a name that a release may give to it.

#include <future>
#include <stop_token>
#include <thread>

#include <tests/redis/held_job.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using locks::AcquireOptions;
using locks::HandOff;
using locks::Lock;
using locks::OnDestroy;

class GivenLock : public HeldJob {
 protected:
  // In the queue there is a claim, and not only a store.
  bool a_claim_waits() { return run({"ZRANGE", kQueue, "0", "0"}).size() > 40; }

  // Acquires it in a thread, and releases it here when that waits.
  template <class Waits>
  Lock acquire_when(Waits waits, const AcquireOptions& how) {
    auto waiter = std::async(std::launch::async, [&] { return provider_.acquire("job", how); });
    EXPECT_TRUE(eventually(waits));
    release("job", first_.id);
    return waiter.get();
  }
  Lock acquire_when_a_claim_waits(const AcquireOptions& how) {
    return acquire_when([this] { return a_claim_waits(); }, how);
  }
  Lock acquire_when_a_store_waits(const AcquireOptions& how) {
    return acquire_when([this] { return in_queue() == 1; }, how);
  }

  locks::LockProvider provider_{open_store(server_.port())};
};

TEST_F(GivenLock, WhatItWasGivenIsKept) {
  Lock lock = acquire_when_a_claim_waits({.ttl = 10min});
  EXPECT_EQ(holders("job").at(0).token, lock.token());
  EXPECT_TRUE(eventually([&] { return holders("job").at(0).time_left > kShort; }));
  EXPECT_FALSE(lock.lost().stop_requested());
  EXPECT_EQ(lock.release(), store::ReleaseOutcome::released);
}

TEST_F(GivenLock, WhatIsNotToBeHeldForLongLastsItsTtlAllTheSame) {
  const Lock lock = acquire_when_a_claim_waits({.ttl = 10min, .max_hold = 1ms});
  EXPECT_TRUE(eventually([&] { return holders("job").at(0).time_left > kShort; }));
  EXPECT_FALSE(lock.lost().stop_requested());
}

TEST_F(GivenLock, WhatIsDetachedLastsItsTtlAllTheSame) {
  Lock lock = acquire_when_a_claim_waits({.ttl = 10min});
  const LeaseId id = lock.detach();
  EXPECT_TRUE(eventually([&] { return holders("job").at(0).time_left > kShort; }));
  EXPECT_TRUE(eventually([&] { return provider_.held() == 0; }));
  EXPECT_EQ(release("job", id), store::ReleaseOutcome::released);
}

TEST_F(GivenLock, AWholeLeaseIsSoFromTheBeginning) {
  const Lock lock = acquire_when_a_store_waits({.ttl = 10min, .hand_off = HandOff::whole_lease});
  EXPECT_GT(lock.time_left(), kShort);
}

TEST_F(GivenLock, ALeaseThatNobodyWillRenewIsWhole) {
  {
    const Lock kept = acquire_when_a_store_waits({.ttl = 10min, .on_destroy = OnDestroy::keep});
  }
  EXPECT_GT(holders("job").at(0).time_left, kShort);
}

TEST_F(GivenLock, WhoTimesOutLeavesTheQueue) {
  EXPECT_FALSE(base::value_or_throw(provider_.try_acquire("job", {.wait = 50ms})));
  EXPECT_EQ(in_queue(), 0);
  release("job", first_.id);
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(GivenLock, WhoIsCancelledLeavesTheQueue) {
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
