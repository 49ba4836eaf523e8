#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/engines/open_store.h>

#include "bench/async/workloads.h"

namespace holdfast::bench_async {

namespace asio = boost::asio;

namespace {

constexpr int kPairs = 1000;

asio::awaitable<void> pairs(async::AsyncLockProvider& provider) {
  for (int i = 0; i < kPairs; ++i) {
    async::AsyncLock lock = co_await provider.acquire("job");
    base::value_or_throw(co_await lock.release());
  }
}

}  // namespace

Report provider_pairs(Seconds time) {
  async::AsyncLockProvider provider(base::value_or_throw(engines::open_store("memory:")));
  asio::io_context context(1);
  const auto medians = bench_locks::alternate(
      time, {[&] {
               asio::co_spawn(context, pairs(provider), asio::detached);
               context.restart();
               context.run();
             },
             [&] {
               for (int i = 0; i < kPairs; ++i) {
                 base::value_or_throw(provider.blocking().acquire("job").release());
               }
             }});
  const double coroutine = medians[0] * 1e9 / kPairs;
  const double thread = medians[1] * 1e9 / kPairs;
  return {.workload = "A4",
          .about = "memory, one caller: acquire + release",
          .rows = {{"a coroutine", coroutine, "ns"},
                   {"a thread", thread, "ns"},
                   {"ratio", coroutine / thread, "x"}},
          .targets = {{"at most 3 times a thread", coroutine <= 3 * thread}}};
}

}  // namespace holdfast::bench_async
