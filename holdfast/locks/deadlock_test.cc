#include <holdfast/locks/deadlock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
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
  for (std::size_t size = 2; size <= 16; ++size) {
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

// Threads that hold one name and wait for another, each for a time of its own, so that deadlocks
// come and go. Notes when each of them waited at most.
class Quarrel {
 public:
  Quarrel(LockProvider& provider, int threads, int names) : provider_(provider), names_(names) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i](const std::stop_token& stop) { work(stop, i); });
    }
  }

  // Returns whether there was a moment at which all of them may have waited.
  bool is_true(const std::vector<Waiter>& circle) {
    const std::lock_guard guard(mutex_);
    auto begin = Moment::min();
    auto end = Moment::max();
    for (const Waiter& waiter : circle) {
      const auto wait = waits_.find(waiter.holding.front());
      if (wait == waits_.end()) {
        return false;
      }
      begin = std::max(begin, wait->second.first);
      end = std::min(end, wait->second.second);
    }
    return begin <= end;
  }

 private:
  using Moment = std::chrono::steady_clock::time_point;

  void note(const base::LeaseId& held, Moment begin, Moment end) {
    const std::lock_guard guard(mutex_);
    waits_[held] = {begin, end};
  }

  void work(const std::stop_token& stop, int number) {
    std::minstd_rand random(static_cast<unsigned>(number) + 1);
    const auto name_of = [](unsigned name) { return "n" + std::to_string(name); };
    while (!stop.stop_requested()) {
      const unsigned first = static_cast<unsigned>(random()) % static_cast<unsigned>(names_);
      const auto lock = provider_.try_acquire(name_of(first), {.wait = 1s, .stop = stop});
      if (!lock || !*lock) {
        continue;
      }
      const base::LeaseId held = (*lock)->id();
      const Moment begin = std::chrono::steady_clock::now();
      note(held, begin, Moment::max());
      const auto next = provider_.try_acquire(
          name_of((first + 1) % static_cast<unsigned>(names_)),
          {.wait = std::chrono::milliseconds(random() % 3000), .stop = stop, .holding = {held}});
      EXPECT_TRUE(next || stop.stop_requested());
      note(held, begin, std::chrono::steady_clock::now());
    }
  }

  LockProvider& provider_;
  const int names_;
  std::mutex mutex_;
  std::map<base::LeaseId, std::pair<Moment, Moment>> waits_;
  std::vector<std::jthread> threads_;
};

TEST_F(DeadlockTest, EveryReportIsTrueWhileWaitersComeAndGiveUp) {
  Quarrel quarrel(provider_, 6, 3);
  int reports = 0;
  EXPECT_TRUE(eventually([&] {
    const std::vector<Waiter> circle = deadlock("n0");
    EXPECT_TRUE(quarrel.is_true(circle));
    reports += circle.empty() ? 0 : 1;
    return reports == 3;
  }));
}

}  // namespace
}  // namespace holdfast::locks
