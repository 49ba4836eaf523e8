// A store that hangs blocks no executor.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/bind_executor.hpp>
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
using base::ErrorCode;
using testing::FaultyStore;
using testing::Operation;

class AsyncOverload : public AsyncTest {};

INSTANTIATE_TEST_SUITE_P(Stores, AsyncOverload, ::testing::Values("memory", "sqlite", "redis"),
                         name_of_store);

TEST_P(AsyncOverload, AScopeThatEndsDoesNotWaitForTheStore) {
  const auto store = std::make_shared<FaultyStore>(open());
  AsyncLockProvider provider(store);
  asio::io_context context;
  const auto gate = store->hold_request(Operation::release);
  bool goes_on = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        {
          const AsyncLock lock = co_await provider.acquire("job");
        }
        goes_on = true;
      },
      asio::detached);
  context.run();
  EXPECT_TRUE(goes_on);  // with the gate closed
  EXPECT_FALSE(is_empty(*store));
  gate->open();
  provider.wait_for_background();
  EXPECT_TRUE(is_empty(*store));
}

TEST_P(AsyncOverload, AStoreThatHangsLetsTheExecutorGoOn) {
  const auto store = std::make_shared<FaultyStore>(open());
  AsyncLockProvider provider(store);
  asio::io_context context;
  const auto gate = store->hold_request(Operation::claim);
  bool acquired = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        const AsyncLock lock = co_await provider.acquire("job");
        acquired = true;
      },
      asio::detached);
  context.poll();
  gate->wait_until_reached();  // so that it is the first claim that hangs
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        const AsyncLock other = co_await provider.acquire("another job");
        EXPECT_FALSE(acquired);
        gate->open();
      },
      asio::detached);
  context.run();
  EXPECT_TRUE(acquired);
}

TEST(AsyncPool, WhatThePoolCannotTakeIsATypedError) {
  const auto store =
      std::make_shared<FaultyStore>(base::value_or_throw(engines::open_store("memory:")));
  AsyncLockProvider provider(store, {}, {.pool_threads = 1, .pool_queue = 1});
  asio::io_context context;
  const auto gate = store->hold_request(Operation::claim);
  std::vector<std::optional<ErrorCode>> ends(3);
  const locks::AcquireOptions how;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    provider.try_acquire("job " + std::to_string(i), how,
                         asio::bind_executor(context, [&, i](const auto& lock) {
                           ends[i] = lock ? std::nullopt : std::optional(lock.error().code);
                         }));
    if (i == 0) {
      gate->wait_until_reached();
    }
  }
  gate->open();
  context.run();
  EXPECT_EQ(ends, (std::vector<std::optional<ErrorCode>>{std::nullopt, std::nullopt,
                                                         ErrorCode::limit_exceeded}));
}

}  // namespace
}  // namespace holdfast::tests
