#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_key_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/engines/open_store.h>

#include "bench/scale/row.h"

namespace holdfast::bench_scale {

namespace {

namespace asio = boost::asio;

// Runs `turn` once for each waiter. `waiting()` is how many are in the queue: all of them are,
// before `begin()` lets the first one have its turn.
Measured hand_overs(asio::io_context& context, std::size_t waiters,
                    const std::function<asio::awaitable<void>()>& turn,
                    const std::function<std::size_t()>& waiting,
                    const std::function<void()>& begin) {
  for (std::size_t i = 0; i < waiters; ++i) asio::co_spawn(context, turn(), asio::detached);
  while (waiting() < waiters) {
    if (context.run_one() == 0) throw std::runtime_error("a coroutine does not wait");
  }
  begin();
  const auto began = std::chrono::steady_clock::now();
  context.run();
  const Seconds spent = std::chrono::steady_clock::now() - began;
  return {.value = spent.count() * 1e9 / static_cast<double>(waiters)};
}

Measured hand_over(Context& /*context*/, std::size_t waiters) {
  asio::io_context context(1);
  async::AsyncKeyLock locks;
  std::size_t started = 0;
  std::size_t granted = 0;
  const auto turn = [&]() -> asio::awaitable<void> {
    ++started;  // and is in the queue before the next one starts
    const auto guard = co_await locks.lock("invoice:42");
    ++granted;
    co_await asio::post(asio::use_awaitable);
  };
  auto held = locks.try_lock("invoice:42");
  const Measured measured =
      hand_overs(context, waiters, turn, [&] { return started; }, [&] { held.reset(); });
  if (granted != waiters) throw std::runtime_error("a coroutine was never granted the key");
  return measured;
}

Measured provider_hand_over(Context& /*context*/, std::size_t waiters) {
  asio::io_context context(1);
  async::AsyncLockProvider provider(base::value_or_throw(engines::open_store("memory:")),
                                    {.max_waiters_per_name = waiters});
  std::size_t granted = 0;
  const locks::AcquireOptions patient{.wait = std::chrono::hours(1)};
  const auto turn = [&]() -> asio::awaitable<void> {
    auto lock = co_await provider.acquire("invoice:42", patient);
    ++granted;
    co_await lock.release();
  };
  std::optional<locks::Lock> held = provider.blocking().acquire("invoice:42");
  const Measured measured =
      hand_overs(context, waiters, turn, [&] { return provider.waiting(); }, [&] { held.reset(); });
  if (granted != waiters) throw std::runtime_error("a coroutine was never granted the name");
  return measured;
}

}  // namespace

std::vector<Row> coroutine_rows() {
  return {{.name = "coroutine-hand-over",
           .about = "AsyncKeyLock: one hand-over among waiting coroutines",
           .size = "waiters",
           .unit = "ns",
           .sizes = {1'000, 10'000, 100'000},
           .quick_sizes = {10, 100, 1'000},
           .measure = hand_over},
          {.name = "provider-hand-over",
           .about = "AsyncLockProvider on memory: one hand-over among waiting coroutines",
           .size = "waiters",
           .unit = "ns",
           .sizes = {1'000, 10'000, 100'000},
           .quick_sizes = {10, 100, 1'000},
           .measure = provider_hand_over}};
}

}  // namespace holdfast::bench_scale
