// A forked child does nothing with a provider for coroutines and its locks.
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>
#include <tests/support/any_store.h>
#include <tests/support/forked_child.h>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/blocking_pool.h>
#include <holdfast/async/multi_lock.h>

#include "async_test.h"

namespace holdfast::tests {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using async::AsyncLock;
using async::AsyncLockProvider;
using testing::Operation;

class ForkedAsync : public ::testing::TestWithParam<std::string> {
 protected:
  template <class T>
  T run(asio::awaitable<T> work) {
    auto future = asio::co_spawn(*context_, std::move(work), asio::use_future);
    context_->restart();
    while (future.wait_for(0s) != std::future_status::ready) {
      context_->run_one_for(10ms);
    }
    return future.get();
  }
  [[nodiscard]] bool has_released_nothing() const {
    return store_->calls(Operation::release) + store_->calls(Operation::transfer) == 0;
  }

  const AnyStore store_{GetParam()};
  std::optional<asio::io_context> context_{std::in_place};
  std::unique_ptr<AsyncLockProvider> provider_ = std::make_unique<AsyncLockProvider>(*store_);
};

INSTANTIATE_TEST_SUITE_P(Engines, ForkedAsync, ::testing::Values("memory", "sqlite", "redis"),
                         [](const auto& engine) { return engine.param; });

TEST_P(ForkedAsync, TheDestructorsOfAProviderAndItsLocksDoNothing) {
  std::optional<AsyncLock> lock = run(provider_->acquire("report"));
  EXPECT_TRUE(is_true_in_child([&] {
    lock.reset();
    provider_.reset();
    context_.reset();
    return has_released_nothing();
  }));
  EXPECT_TRUE(lock->check());
  EXPECT_TRUE(*provider_->blocking().is_locked("report"));
}

TEST_P(ForkedAsync, TheLocksOfAMultiLockStayWithTheParent) {
  const locks::AcquireOptions how;
  std::optional<async::AsyncMultiLock> both =
      run(async::acquire_all(*provider_, {"anna", "bert"}, how));
  EXPECT_TRUE(is_true_in_child([&] {
    both.reset();
    return has_released_nothing();
  }));
  EXPECT_TRUE(both->check());
}

asio::awaitable<void> take(AsyncLockProvider& provider) {
  const locks::AcquireOptions how{.wait = 1h};
  AsyncLock lock = co_await provider.acquire("report", how);
  co_await lock.release();
}

TEST_P(ForkedAsync, AWaiterOfTheParentIsNotTouched) {
  std::optional<AsyncLock> lock = run(provider_->acquire("report"));
  context_->restart();
  asio::co_spawn(*context_, take(*provider_), asio::detached);
  while (provider_->waiting() == 0 || store_->calls(Operation::claim) < 3) {
    context_->run_one_for(10ms);
  }
  EXPECT_TRUE(is_true_in_child([&] {
    lock.reset();
    provider_.reset();
    context_.reset();
    return has_released_nothing();
  }));
  EXPECT_EQ(provider_->waiting(), 1U);
  lock.reset();
  context_->run();
  EXPECT_EQ(provider_->waiting(), 0U);
}

// At some of the forks a thread that is not there in the child has the mutex.
TEST(ForkedPool, ItsDestructorNeedsNoMutexInTheChild) {
  std::optional<async::BlockingPool> pool(std::in_place, 2, 10);
  std::jthread busy([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      static_cast<void>(pool->queued());
    }
  });
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(is_true_in_child([&] {
      pool.reset();
      return true;
    }));
  }
}

}  // namespace
}  // namespace holdfast::tests
