#include <holdfast/locks/deadlock.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;
using tests::eventually;

class DeadlockTest : public ::testing::Test {
 protected:
  std::vector<Waiter> deadlock(const std::string& name) {
    return base::value_or_throw(find_deadlock(*store_, name));
  }

  const std::shared_ptr<store::LeaseStore> store_ =
      std::make_shared<engines::memory::MemoryStore>();
  LockProvider provider_{store_, {.announce_after = 1ms}};
};

TEST_F(DeadlockTest, TwoToSixteenThatWaitForEachOtherAreNamed) {
  for (const std::size_t size : {2U, 3U, 16U}) {
    std::vector<Lock> held;
    for (std::size_t i = 0; i < size; ++i) {
      held.push_back(provider_.acquire("n" + std::to_string(i)));
    }
    std::vector<std::jthread> waiting;
    for (std::size_t i = 0; i < size; ++i) {
      waiting.emplace_back([this, &held, i](const std::stop_token& stop) {
        const auto lock =
            provider_.try_acquire(held[(i + 1) % held.size()].name(),
                                  {.wait = 1h, .stop = stop, .holding = {held[i].id()}});
        EXPECT_FALSE(lock);
      });
    }
    EXPECT_TRUE(eventually([&] { return deadlock("n0").size() == size; })) << size;
  }
}

TEST_F(DeadlockTest, AWaiterThatOnlyWaitsLongIsNotPartOfOne) {
  const Lock a = provider_.acquire("a");
  const Lock b = provider_.acquire("b");
  std::jthread waiting([&](const std::stop_token& stop) {
    EXPECT_FALSE(provider_.try_acquire("b", {.wait = 1h, .stop = stop, .holding = {a.id()}}));
  });
  EXPECT_TRUE(eventually([&] { return waiters_for(*store_, "b")->size() == 1; }));
  EXPECT_TRUE(deadlock("a").empty());
  EXPECT_TRUE(deadlock("b").empty());
}

// A waiter that was killed leaves what showed it, and a lease that another process may keep.
TEST_F(DeadlockTest, AWaiterThatDoesNotShowItselfAgainIsNotBelieved) {
  const Lock a = provider_.acquire("a");
  const Lock b = provider_.acquire("b");
  const std::string text = "1/1 1000 " + base::to_string(b.id()) + ", ";
  const store::Claim dead{.id = base::LeaseId(1, 2),
                          .owner = "dead",
                          .reason = text,
                          .ttl = 5s,
                          .permits = store::Permits::reader()};
  ASSERT_TRUE(store_->claim("holdfast.waiting/a", dead));
  std::jthread waiting([&](const std::stop_token& stop) {
    EXPECT_FALSE(provider_.try_acquire("b", {.wait = 1h, .stop = stop, .holding = {a.id()}}));
  });
  EXPECT_TRUE(eventually([&] { return waiters_for(*store_, "b")->size() == 1; }));
  EXPECT_EQ(base::value_or_throw(waiters_for(*store_, "a")).size(), 1U);
  EXPECT_TRUE(deadlock("a").empty());
}

TEST_F(DeadlockTest, OneThatHasEndedIsNotReported) {
  std::optional<Lock> a = provider_.acquire("a");
  const Lock b = provider_.acquire("b");
  std::jthread patient([&, id = a->id()](const std::stop_token& stop) {
    EXPECT_FALSE(provider_.try_acquire("b", {.wait = 1h, .stop = stop, .holding = {id}}));
  });
  std::jthread other([&](const std::stop_token& stop) {
    EXPECT_FALSE(provider_.try_acquire("a", {.wait = 1h, .stop = stop, .holding = {b.id()}}));
  });
  EXPECT_TRUE(eventually([&] { return deadlock("b").size() == 2; }));
  other.request_stop();
  other.join();
  EXPECT_TRUE(deadlock("a").empty());
  EXPECT_TRUE(deadlock("b").empty());
}

}  // namespace
}  // namespace holdfast::locks
