#include <functional>
#include <memory>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "bench/async/contenders.h"
#include "bench/async/workloads.h"

namespace holdfast::bench_async {

namespace {

namespace asio = boost::asio;

constexpr int kCoroutines = 8;
constexpr int kTurns = 250;  // of each, in one run of the context

// Each coroutine holds the key across one pass through the executor, so that the others wait.
template <class Locks>
std::function<void()> hand_over() {
  auto context = std::make_shared<asio::io_context>(1);
  auto locks = std::make_shared<Locks>(context->get_executor());
  return [=] {
    for (int i = 0; i < kCoroutines; ++i) {
      asio::co_spawn(
          *context,
          [&]() -> asio::awaitable<void> {
            for (int turn = 0; turn < kTurns; ++turn) {
              const auto guard = co_await locks->lock("invoice:42");
              co_await asio::post(asio::use_awaitable);
            }
          },
          asio::detached);
    }
    context->restart();
    context->run();
  };
}

// The cost that all contenders share: the pass through the executor, without a lock.
struct NoLocks {
  struct Guard {
    // Not trivial, so that the compiler does not warn about an unused variable.
    ~Guard() {}  // NOLINT(modernize-use-equals-default)
  };
  explicit NoLocks(const asio::any_io_executor& /*executor*/) {}
  static asio::awaitable<Guard> lock(const char* /*key*/) { co_return Guard(); }
};

}  // namespace

Report key_hand_over(Seconds time) {
  const auto medians =
      bench_locks::alternate(time, {hand_over<HoldfastKeyLock>(), hand_over<SharedChannelKeyLock>(),
                                    hand_over<LocalChannelKeyLock>(), hand_over<NoLocks>()});
  const double turn = 1e9 / (kCoroutines * kTurns);
  return {.workload = "A2",
          .about = "8 coroutines of one thread take turns, a post() each",
          .rows = {{kHoldfast, medians[0] * turn, "ns"},
                   {kSharedChannel, medians[1] * turn, "ns"},
                   {kLocalChannel, medians[2] * turn, "ns"},
                   {"no lock, the post() alone", medians[3] * turn, "ns"}},
          .targets = {}};
}

}  // namespace holdfast::bench_async
