#include <functional>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "bench/async/contenders.h"
#include "bench/async/workloads.h"

namespace holdfast::bench_async {

namespace {

namespace asio = boost::asio;

constexpr int kPairs = 1'000;  // in one run of the context

// Several keys in turn, so that an entry is made and removed each time.
const std::string& key(int i) {
  static const std::string kKeys[] = {"invoice:41", "invoice:42", "invoice:43", "invoice:44"};
  return kKeys[i % 4];
}

template <class Locks>
std::function<void()> coroutine() {
  auto context = std::make_shared<asio::io_context>(1);
  auto locks = std::make_shared<Locks>(context->get_executor());
  return [=] {
    asio::co_spawn(
        *context,
        [&]() -> asio::awaitable<void> {
          for (int i = 0; i < kPairs; ++i) {
            const auto guard = co_await locks->lock(key(i));
          }
        },
        asio::detached);
    context->restart();
    context->run();
  };
}

// The same without a coroutine: each pair goes through the executor.
class Callbacks {
 public:
  void run() {
    left_ = kPairs;
    asio::post(context_, [this] { next(); });
    context_.restart();
    context_.run();
  }

 private:
  void next() {
    if (left_-- == 0) return;
    keys_.lock(key(left_), asio::bind_executor(context_, [this](boost::system::error_code,
                                                                async::AsyncExclusiveGuard guard) {
                 guard.unlock();
                 next();
               }));
  }

  asio::io_context context_{1};
  async::AsyncKeyLock keys_;
  int left_ = 0;
};

}  // namespace

Report key_pairs(Seconds time) {
  Callbacks callbacks;
  const auto medians =
      bench_locks::alternate(time, {coroutine<HoldfastKeyLock>(), coroutine<SharedChannelKeyLock>(),
                                    coroutine<LocalChannelKeyLock>(), [&] { callbacks.run(); }});
  const double pair = 1e9 / kPairs;
  return {.workload = "A1",
          .about = "a free key, one coroutine: lock + unlock",
          .rows = {{kHoldfast, medians[0] * pair, "ns"},
                   {kSharedChannel, medians[1] * pair, "ns"},
                   {kLocalChannel, medians[2] * pair, "ns"},
                   {"holdfast, a callback", medians[3] * pair, "ns"}},
          .targets = {{"less than the concurrent channel", medians[0] < medians[1]}}};
}

}  // namespace holdfast::bench_async
