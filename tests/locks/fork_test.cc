// A forked child does nothing with a provider and the locks of its parent.
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <tests/support/any_store.h>
#include <tests/support/forked_child.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;

using testing::Operation;
using tests::eventually;
using tests::is_true_in_child;

class ForkedChild : public ::testing::TestWithParam<std::string> {
 protected:
  const tests::AnyStore store_{GetParam()};
  std::unique_ptr<LockProvider> provider_ = std::make_unique<LockProvider>(*store_);
};

INSTANTIATE_TEST_SUITE_P(Engines, ForkedChild, ::testing::Values("memory", "sqlite", "redis"),
                         [](const auto& engine) { return engine.param; });

TEST_P(ForkedChild, TheDestructorsOfAProviderAndItsLocksAskNothingOfTheStore) {
  // Kept alive: both threads of the keeper run in the parent.
  std::optional<Lock> lock = provider_->acquire("report");
  std::optional<Lock> kept = provider_->acquire("kept", {.on_destroy = OnDestroy::keep});
  EXPECT_TRUE(is_true_in_child([&] {
    lock.reset();
    kept.reset();
    provider_.reset();
    return store_->calls(Operation::release) == 0;
  }));
  EXPECT_TRUE(lock->check()) << "the child must not release what its parent holds";
  EXPECT_TRUE(*provider_->is_locked("report"));
}

TEST_P(ForkedChild, ALockThatOutlivesItsProviderFiresNoLossThere) {
  std::optional<Lock> lock = provider_->acquire("report");
  EXPECT_TRUE(is_true_in_child([&] {
    provider_.reset();  // would end the renewal, and with it the lock
    const bool is_untouched = !lock->lost().stop_requested();
    lock.reset();
    return is_untouched;
  }));
  EXPECT_TRUE(lock->check());
}

TEST_P(ForkedChild, AWaiterOfTheParentAndItsWatchAreNotTouched) {
  std::optional<Lock> lock = provider_->acquire("report");
  std::thread waiter([&] { EXPECT_TRUE(provider_->acquire("report", {.wait = 1h}).check()); });
  EXPECT_TRUE(eventually([&] { return store_->calls(Operation::watch) == 1; }));
  EXPECT_TRUE(eventually([&] { return store_->calls(Operation::claim) >= 3; }));
  EXPECT_TRUE(is_true_in_child([&] {
    lock.reset();  // would be handed over to the waiter
    provider_.reset();
    return store_->calls(Operation::transfer) + store_->calls(Operation::release) == 0;
  }));
  EXPECT_EQ(provider_->waiting(), 1U);
  lock.reset();
  waiter.join();
}

TEST_P(ForkedChild, KeepingCannotBeStarted) {
  EXPECT_TRUE(is_true_in_child([&] {
    const auto started = provider_->start_keeping();
    return !started && started.error().code == base::ErrorCode::unsupported;
  }));
}

// At some of the forks a thread that is not there in the child has one of the provider's mutexes.
TEST_P(ForkedChild, NoMutexOfTheProviderIsNeeded) {
  std::optional<Lock> lock = provider_->acquire("report");
  std::jthread busy([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      static_cast<void>(provider_->held());
      static_cast<void>(provider_->waiting());
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(is_true_in_child([&] {
      lock.reset();
      provider_.reset();
      return true;
    }));
  }
  EXPECT_TRUE(lock->check());
}

}  // namespace
}  // namespace holdfast::locks
