#include <cstddef>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <malloc.h>

#include "bench/async/contenders.h"
#include "bench/async/workloads.h"

namespace holdfast::bench_async {

namespace {

namespace asio = boost::asio;

constexpr int kWaiters = 10'000;

// Returns the bytes in use from malloc, malloc's own headers included.
std::size_t heap_in_use() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Counts everything that a waiting coroutine needs, its frames included; those are the same for
// each contender. One run is enough: memory does not vary as time does.
template <class Locks>
double bytes_per_waiter() {
  asio::io_context context(1);
  Locks locks(context.get_executor());
  const auto wait = [&]() -> asio::awaitable<void> {
    const auto guard = co_await locks.lock("invoice:42");
    co_await asio::post(asio::use_awaitable);
  };
  asio::co_spawn(context, wait(), asio::detached);
  context.poll_one();  // it holds the key
  const std::size_t before = heap_in_use();
  for (int i = 0; i < kWaiters; ++i) {
    asio::co_spawn(context, wait(), asio::detached);
    context.poll_one();
  }
  const auto grown = static_cast<double>(heap_in_use()) - static_cast<double>(before);
  context.run();
  return grown / kWaiters;
}

}  // namespace

Report key_waiters(Seconds /*time*/) {
  const double ours = bytes_per_waiter<HoldfastKeyLock>();
  const double shared = bytes_per_waiter<SharedChannelKeyLock>();
  const double local = bytes_per_waiter<LocalChannelKeyLock>();
  return {.workload = "A3",
          .about = "10,000 coroutines wait for one key",
          .rows = {{kHoldfast, ours, "bytes each"},
                   {kSharedChannel, shared, "bytes each"},
                   {kLocalChannel, local, "bytes each"}},
          .targets = {}};
}

}  // namespace holdfast::bench_async
