#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_lock_provider.h>

#include "async_test.h"

namespace holdfast::tests {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using async::AsyncLock;
using async::AsyncLockProvider;

class AsyncManyWaiters : public AsyncTest {};

INSTANTIATE_TEST_SUITE_P(Stores, AsyncManyWaiters,
                         ::testing::Values("memory", "pool", "sqlite", "redis"), name_of_store);

std::size_t thread_count() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

constexpr int kNames = 100;

struct Crowd {
  std::array<int, kNames> inside{};
  int overlaps = 0;
  int served = 0;
};

asio::awaitable<void> take_turn(AsyncLockProvider& provider, Crowd& crowd, int name) {
  const locks::AcquireOptions how{.ttl = 1h, .wait = 24h};
  AsyncLock lock = co_await provider.acquire("job/" + std::to_string(name), how);
  int& inside = crowd.inside.at(static_cast<std::size_t>(name));
  crowd.overlaps += inside++ == 0 ? 0 : 1;
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  --inside;
  ++crowd.served;
  co_await lock.release();
}

TEST_P(AsyncManyWaiters, TenThousandForAHundredNamesOnOneThreadAllGetTheirTurn) {
  const bool is_remote = GetParam() == "sqlite" || GetParam() == "redis";
  const int waiters = 10'000 / kShare / (is_remote ? 5 : 1);
  const auto store = open();
  AsyncLockProvider provider(store);
  asio::io_context context(1);
  Crowd crowd;
  {
    // Nobody has a turn before all wait in the queue.
    std::vector<locks::Lock> held;
    for (int name = 0; name < kNames; ++name) {
      held.push_back(provider.blocking().acquire("job/" + std::to_string(name)));
    }
    for (int i = 0; i < waiters; ++i) {
      asio::co_spawn(context, take_turn(provider, crowd, i % kNames), asio::detached);
    }
    const std::size_t threads_before = thread_count();
    while (provider.waiting() < static_cast<std::size_t>(waiters)) {
      ASSERT_GT(context.run_one_for(kPatience), 0U);
    }
    // For all of them: those that ask the store, but for the first; and two of the Redis engine's.
    EXPECT_LE(thread_count(), threads_before + async::AsyncOptions().pool_threads - 1 + 2);
    EXPECT_EQ(crowd.served, 0);
  }
  context.run();
  EXPECT_EQ(crowd.served, waiters);
  EXPECT_EQ(crowd.overlaps, 0);
  EXPECT_EQ(provider.waiting(), 0U);
  EXPECT_EQ(provider.held(), 0U);
  EXPECT_TRUE(is_empty(*store));
}

asio::awaitable<void> keep_trying(AsyncLockProvider& provider, int name, int& busy) {
  for (int i = 0; i < 200 / kShare; ++i) {
    const locks::AcquireOptions how{.wait = std::chrono::microseconds(i % 50)};
    const auto lock = co_await provider.try_acquire("job/" + std::to_string(name), how);
    busy += lock && !*lock ? 1 : 0;
  }
}

// Its time may come before it has fallen asleep.
TEST(AsyncManyShortWaits, AllEnd) {
  AsyncLockProvider provider(base::value_or_throw(engines::open_store("memory:")));
  asio::io_context context(1);
  std::vector<locks::Lock> held;
  int busy = 0;
  for (int name = 0; name < kNames; ++name) {
    held.push_back(provider.blocking().acquire("job/" + std::to_string(name)));
    asio::co_spawn(context, keep_trying(provider, name, busy), asio::detached);
  }
  context.run_for(kPatience);
  EXPECT_EQ(busy, kNames * (200 / kShare));
}

asio::awaitable<void> take_and_release(AsyncLockProvider& provider) {
  const locks::AcquireOptions how{.ttl = 1h, .wait = 24h};
  AsyncLock lock = co_await provider.acquire("job", how);
  co_await lock.release();
}

// Returns how many handlers the executor runs until all these waiters have had the name.
std::size_t handlers_for(std::size_t waiters) {
  AsyncLockProvider provider(base::value_or_throw(engines::open_store("memory:")));
  asio::io_context context(1);
  std::optional<locks::Lock> held = provider.blocking().acquire("job");
  for (std::size_t i = 0; i < waiters; ++i) {
    asio::co_spawn(context, take_and_release(provider), asio::detached);
  }
  while (provider.waiting() < waiters) {
    if (context.run_one_for(kPatience) == 0) {
      ADD_FAILURE() << "a coroutine does not wait";
      break;
    }
  }
  held.reset();
  const std::size_t handlers = context.run();
  EXPECT_EQ(provider.held(), 0U);
  return handlers;
}

TEST(AsyncHandOver, CostsTheExecutorTheSameHoweverManyWait) {
  const std::size_t few = handlers_for(100);
  EXPECT_LE(handlers_for(900), 9 * few + few / 2);
}

}  // namespace
}  // namespace holdfast::tests
