#include <holdfast/locks/waiters.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/store/prefixed_store.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;
using tests::eventually;

ProviderOptions at_once(const std::string& prefix = {}) {
  return {.owner = "ci@web1:41", .prefix = prefix, .announce_after = 1ms};
}

class WaitersTest : public ::testing::Test {
 protected:
  // Starts to wait until the test is over.
  void wait_for(LockProvider& provider, const std::string& name, const std::string& reason) {
    waiting_.emplace_back([&provider, name, reason](const std::stop_token& stop) {
      EXPECT_FALSE(provider.try_acquire(name, {.wait = 1h, .stop = stop, .reason = reason}));
    });
  }
  // To be called before what they wait for is released.
  void end_waiting() { waiting_.clear(); }
  // Blocks until so many are seen.
  std::vector<Waiter> seen(const std::string& prefix, std::size_t count) {
    std::vector<Waiter> waiters;
    EXPECT_TRUE(eventually([&] {
      waiters = base::value_or_throw(list_waiters(*store_, prefix));
      return waiters.size() == count;
    })) << waiters.size();
    return waiters;
  }

  const std::shared_ptr<store::LeaseStore> store_ =
      std::make_shared<engines::memory::MemoryStore>();
  LockProvider provider_{store_, at_once()};
  std::vector<std::jthread> waiting_;
};

TEST_F(WaitersTest, AWaiterIsSeenAsLongAsItWaits) {
  std::optional<Lock> held = provider_.acquire("job");
  std::jthread waiting([&] { EXPECT_TRUE(provider_.acquire("job", {.reason = "deploy 812"})); });
  const Waiter waiter = seen("", 1).front();
  EXPECT_EQ(waiter.name, "job");
  EXPECT_EQ(waiter.owner, "ci@web1:41");
  EXPECT_EQ(waiter.reason, "deploy 812");
  EXPECT_GE(waiter.waited, 1ms);
  EXPECT_EQ(base::value_or_throw(waiters_for(*store_, "job")).front().id, waiter.id);
  held.reset();
  waiting.join();
  EXPECT_TRUE(base::value_or_throw(list_waiters(*store_)).empty());
}

TEST_F(WaitersTest, AWaiterThatGivesUpIsNotSeenAnyMore) {
  const Lock held = provider_.acquire("job");
  EXPECT_FALSE(base::value_or_throw(provider_.try_acquire("job", {.wait = 600ms})));
  EXPECT_TRUE(base::value_or_throw(waiters_for(*store_, "job")).empty());
}

TEST_F(WaitersTest, EveryWaiterOfAProviderIsSeenNameByName) {
  const Lock job = provider_.acquire("deploy/job");
  const Lock other = provider_.acquire("other");
  wait_for(provider_, "deploy/job", "one");
  wait_for(provider_, "deploy/job", "two");
  wait_for(provider_, "other", "three");
  const auto all = seen("", 3);
  EXPECT_EQ(all[1].name, "deploy/job");
  EXPECT_EQ(all[2].name, "other");
  EXPECT_GE(all[0].waited, all[1].waited);
  EXPECT_EQ(seen("deploy/", 2).front().name, "deploy/job");
  end_waiting();
}

TEST_F(WaitersTest, AListOfNamesHasOnlyTheirs) {
  const Lock held = provider_.acquire("job");
  wait_for(provider_, "job", "");
  seen("", 1);
  const auto names = base::value_or_throw(store_->list("")).names;
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names.front().name.view(), "job");
  EXPECT_EQ(base::value_or_throw(store_->list("holdfast.waiting/")).names.size(), 1U);
  end_waiting();
}

TEST_F(WaitersTest, APrefixHasItsOwnWaiters) {
  LockProvider billing(store_, at_once("billing/"));
  const Lock held = billing.acquire("job");
  wait_for(billing, "job", "");
  EXPECT_EQ(seen("", 1).front().name, "billing/job");
  EXPECT_EQ(base::value_or_throw(list_waiters(billing.store())).front().name, "job");
  EXPECT_EQ(base::value_or_throw(waiters_for(billing.store(), "job")).size(), 1U);
  EXPECT_TRUE(base::value_or_throw(waiters_for(*store_, "job")).empty());
  end_waiting();
}

TEST_F(WaitersTest, AnotherWaitMayBeShownToo) {
  {
    const auto shown = show_waiter(provider_, "job", {.reason = "until it is free"}, 3s);
    ASSERT_TRUE(shown);
    const Waiter waiter = base::value_or_throw(waiters_for(*store_, "job")).front();
    EXPECT_EQ(waiter.reason, "until it is free");
    EXPECT_GE(waiter.waited, 3s);
  }
  EXPECT_TRUE(base::value_or_throw(list_waiters(*store_)).empty());
  EXPECT_FALSE(show_waiter(provider_, std::string(1024, 'x'), {}, 0s));
}

TEST_F(WaitersTest, AProviderMayBeToldNotToShowThem) {
  LockProvider silent(store_, {.announce_after = base::Duration::max()});
  const Lock held = silent.acquire("job");
  wait_for(silent, "job", "");
  wait_for(provider_, "job", "");
  EXPECT_TRUE(eventually([&] { return silent.waiting() == 1; }));
  EXPECT_EQ(seen("", 1).front().owner, "ci@web1:41");
  end_waiting();
}

}  // namespace
}  // namespace holdfast::locks
