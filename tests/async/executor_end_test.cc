// The executor's context ends while operations are under way.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_lock_provider.h>

#include "async_test.h"

namespace holdfast::tests {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using async::AsyncLock;
using async::AsyncLockProvider;

class AsyncExecutorEnd : public AsyncTest {};

INSTANTIATE_TEST_SUITE_P(Stores, AsyncExecutorEnd,
                         ::testing::Values("memory", "pool", "sqlite", "redis"), name_of_store);

asio::awaitable<void> acquire_and_keep(AsyncLockProvider& provider, std::shared_ptr<int> sentinel) {
  const locks::AcquireOptions how{.wait = 1h};
  AsyncLock lock = co_await provider.acquire("job", how);
  *sentinel += 1;
  co_await lock.release();
  const AsyncLock again = co_await provider.acquire("job", how);
}

void run_until_waiting(asio::io_context& context, AsyncLockProvider& provider) {
  EXPECT_TRUE(eventually([&] {
    context.poll();
    return provider.waiting() == 1;
  }));
  context.run_for(10ms);  // it may have to subscribe and to ask again
}

TEST_P(AsyncExecutorEnd, AfterEveryStepLeavesNothingBehind) {
  const auto store = open();
  AsyncLockProvider provider(store, {.poll_least = 1ms, .poll_most = 2ms});
  for (int handlers = 0; handlers < 40; ++handlers) {
    SCOPED_TRACE("ended after " + std::to_string(handlers));
    std::optional<locks::Lock> held;
    if (handlers % 2 == 0) {
      held = provider.blocking().acquire("job");
    }
    const auto sentinel = std::make_shared<int>(0);
    {
      asio::io_context context;
      for (int i = 0; i < 4; ++i) {
        asio::co_spawn(context, acquire_and_keep(provider, sentinel), asio::detached);
      }
      run_some(context, handlers / 2);
      if (handlers % 4 == 2) {
        held.reset();  // it may be handed to one that is about to be abandoned
        run_some(context, handlers / 4);
      }
    }
    EXPECT_EQ(sentinel.use_count(), 1) << "a coroutine was not destroyed";
    held.reset();
    EXPECT_TRUE(eventually([&] { return provider.waiting() == 0 && provider.held() == 0; }));
    EXPECT_TRUE(eventually([&] { return is_empty(*store); }));
    if (HasFailure()) {
      return;
    }
  }
}

TEST_P(AsyncExecutorEnd, AWaiterLeavesTheQueueWithoutBeingCalled) {
  AsyncLockProvider provider(open(), {.poll_least = 1h, .poll_most = 1h, .warn_after = 1h});
  const locks::Lock held = provider.blocking().acquire("job");
  const auto sentinel = std::make_shared<int>(0);
  {
    asio::io_context context;
    asio::co_spawn(context, acquire_and_keep(provider, sentinel), asio::detached);
    run_until_waiting(context, provider);
  }
  EXPECT_EQ(sentinel.use_count(), 1);
  EXPECT_TRUE(eventually([&] { return provider.waiting() == 0; }));
}

// A context ends its services in the reverse order of their first use: here the strand's, with what
// is posted to it, before the one that knows of the operations.
TEST_P(AsyncExecutorEnd, OfAStrandThatWasMadeAfterTheFirstUseIsSafe) {
  const auto store = open();
  AsyncLockProvider provider(store, {.poll_least = 1h, .poll_most = 1h, .warn_after = 1h});
  const auto sentinel = std::make_shared<int>(0);
  {
    asio::io_context context;
    asio::co_spawn(context, acquire_and_keep(provider, sentinel), asio::detached);
    context.run();
    provider.wait_for_background();
    context.restart();
    locks::Lock held = provider.blocking().acquire("job");
    asio::co_spawn(asio::make_strand(context), acquire_and_keep(provider, sentinel),
                   asio::detached);
    run_until_waiting(context, provider);
    ASSERT_TRUE(held.release());  // to the waiter, whose next step is posted
  }
  EXPECT_EQ(sentinel.use_count(), 1);
  EXPECT_TRUE(eventually([&] { return provider.waiting() == 0 && provider.held() == 0; }));
  EXPECT_TRUE(eventually([&] { return is_empty(*store); }));
}

TEST_P(AsyncExecutorEnd, OfAStrandOnAPoolOfThreadsIsSafe) {
  const auto store = open();
  AsyncLockProvider provider(store, {.poll_least = 1ms, .poll_most = 2ms});
  for (int round = 0; round < 20; ++round) {
    const auto sentinel = std::make_shared<int>(0);
    {
      asio::thread_pool threads(2);
      for (int i = 0; i < 8; ++i) {
        asio::co_spawn(asio::make_strand(threads), acquire_and_keep(provider, sentinel),
                       asio::detached);
      }
      if (round % 2 == 0) {
        EXPECT_TRUE(eventually([&] { return provider.waiting() > 0 || provider.held() == 0; }));
      }
      threads.stop();
    }
    EXPECT_EQ(sentinel.use_count(), 1);
    EXPECT_TRUE(eventually([&] { return provider.waiting() == 0 && provider.held() == 0; }));
    EXPECT_TRUE(eventually([&] { return is_empty(*store); }));
  }
}

TEST_P(AsyncExecutorEnd, AProviderInTheCoroutineThatIsDestroyedMayEndWithIt) {
  const auto store = open();
  for (int handlers = 0; handlers < 12; ++handlers) {
    asio::io_context context;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          AsyncLockProvider provider(store);
          const AsyncLock first = co_await provider.acquire("job");
          const AsyncLock second = co_await provider.acquire("job");
        },
        asio::detached);
    for (int i = 0; i < handlers && context.run_one_for(5ms) > 0; ++i) {
    }
  }
  EXPECT_TRUE(eventually([&] { return is_empty(*store); }));
}

}  // namespace
}  // namespace holdfast::tests
