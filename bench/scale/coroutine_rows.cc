#include <chrono>
#include <stdexcept>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <holdfast/async/async_key_lock.h>

#include "bench/scale/row.h"

namespace holdfast::bench_scale {

namespace {

namespace asio = boost::asio;

Measured hand_over(Context& /*context*/, std::size_t waiters) {
  asio::io_context context(1);
  async::AsyncKeyLock locks;
  std::size_t granted = 0;
  const auto wait = [&]() -> asio::awaitable<void> {
    const auto guard = co_await locks.lock("invoice:42");
    ++granted;
    co_await asio::post(asio::use_awaitable);
  };
  // All are in the queue before the first hand-over: the holder waits in the executor meanwhile.
  asio::co_spawn(context, wait(), asio::detached);
  context.poll_one();
  for (std::size_t i = 0; i < waiters; ++i) {
    asio::co_spawn(context, wait(), asio::detached);
  }
  for (std::size_t i = 0; i < waiters; ++i) context.poll_one();
  const auto begin = std::chrono::steady_clock::now();
  context.run();
  const Seconds spent = std::chrono::steady_clock::now() - begin;
  if (granted != waiters + 1) throw std::runtime_error("a coroutine was never granted the key");
  return {.value = spent.count() * 1e9 / static_cast<double>(waiters)};
}

}  // namespace

std::vector<Row> coroutine_rows() {
  return {{.name = "coroutine-hand-over",
           .about = "AsyncKeyLock: one hand-over among waiting coroutines",
           .size = "waiters",
           .unit = "ns",
           .sizes = {1'000, 10'000, 100'000},
           .quick_sizes = {10, 100, 1'000},
           .measure = hand_over}};
}

}  // namespace holdfast::bench_scale
