// Tests of waiters that lose something they need.
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_key_lock.h>
#include <holdfast/async/key_testing_support.h>

namespace holdfast::async {
namespace {

using namespace std::chrono_literals;
using testing_support::Line;
using testing_support::Names;
using testing_support::settle;
namespace asio = boost::asio;
using Error = boost::system::error_code;

// Counts its live instances.
class Witness {
 public:
  explicit Witness(int& alive) : alive_(&alive) { ++*alive_; }
  Witness(const Witness& other) : alive_(other.alive_) { ++*alive_; }
  Witness& operator=(const Witness&) = delete;
  ~Witness() { --*alive_; }

 private:
  int* alive_;
};

TEST(AsyncKeyLifetime, WaitersOfADestroyedLockAreCancelled) {
  auto keys = std::make_unique<AsyncKeyLock>();
  asio::io_context context;
  Line line(*keys, context);
  line.writer("holder");
  line.writer("a");
  line.reader("b");
  keys.reset();
  EXPECT_EQ(line.news(), (Names{"holder"})) << "nobody is resumed inside the destructor";
  settle(context);
  EXPECT_EQ(line.news(), (Names{"a cancelled", "b cancelled"}));
  EXPECT_TRUE(line.is_inside("holder"));
  line.let_go("holder");  // a guard may outlive its lock
}

TEST(AsyncKeyLifetime, AWaitMayBeEndedAfterTheLockIsDestroyed) {
  auto keys = std::make_unique<AsyncKeyLock>();
  asio::io_context context;
  auto holder = keys->try_lock("k");
  asio::cancellation_signal signal;
  std::stop_source source;
  std::vector<Error> results;
  const auto token = [&] {
    return asio::bind_executor(
        context, [&](Error error, const AsyncExclusiveGuard&) { results.push_back(error); });
  };
  keys->lock("k", asio::bind_cancellation_slot(signal.slot(), token()));
  keys->lock("k", AsyncKeyWait(std::chrono::steady_clock::now(), source.get_token()), token());
  keys.reset();
  holder.reset();
  // Both have been decided, and not yet completed.
  signal.emit(asio::cancellation_type::terminal);
  source.request_stop();
  context.run();
  EXPECT_EQ(results, (std::vector<Error>(2, asio::error::operation_aborted)));
}

TEST(AsyncKeyLifetime, AKeyOnItsWayOutlivesTheLock) {
  auto keys = std::make_unique<AsyncKeyLock>();
  asio::io_context context;
  Line line(*keys, context);
  std::optional<AsyncExclusiveGuard> holder = keys->try_lock("k");
  line.writer("next");
  holder.reset();
  keys.reset();
  settle(context);
  EXPECT_EQ(line.news(), (Names{"next"}));
  line.let_go("next");
}

TEST(AsyncKeyLifetime, WaitersOfADestroyedContextAreDropped) {
  AsyncKeyLock keys;
  asio::io_context here;
  Line line(keys, here);
  std::optional<AsyncExclusiveGuard> holder = keys.try_lock("k");
  int alive = 0;
  bool is_called = false;
  {
    asio::io_context gone;
    keys.lock("k",
              asio::bind_executor(gone, [&, witness = Witness(alive)](Error, AsyncExclusiveGuard) {
                is_called = true;
              }));
    keys.lock_for("k", 1h,
                  asio::bind_executor(gone, [&, witness = Witness(alive)](
                                                Error, AsyncExclusiveGuard) { is_called = true; }));
    EXPECT_EQ(alive, 2);
    line.writer("next");
  }
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(is_called);
  holder.reset();
  settle(here);
  EXPECT_EQ(line.news(), (Names{"next"}));
  line.let_go("next");
  EXPECT_EQ(keys.size(), 0U);
}

TEST(AsyncKeyLifetime, AKeyOnItsWayToADestroyedContextGoesToTheNext) {
  AsyncKeyLock keys;
  asio::io_context here;
  Line line(keys, here);
  std::optional<AsyncExclusiveGuard> holder = keys.try_lock("k");
  {
    asio::io_context gone;
    keys.lock("k", asio::bind_executor(gone, [](Error, AsyncExclusiveGuard) { FAIL(); }));
    line.writer("next");
    holder.reset();  // passes the key to the waiter whose context will never run
    settle(here);
    EXPECT_EQ(line.news(), Names{});
  }
  settle(here);
  EXPECT_EQ(line.news(), (Names{"next"}));
}

TEST(AsyncKeyLifetime, AReaderBehindADroppedWriterEnters) {
  AsyncKeyLock keys;
  asio::io_context here;
  Line line(keys, here);
  line.reader("in");
  {
    asio::io_context gone;
    keys.lock("k", asio::bind_executor(gone, [](Error, AsyncExclusiveGuard) { FAIL(); }));
    line.reader("next");
    EXPECT_EQ(line.news(), (Names{"in"}));
  }
  settle(here);
  EXPECT_EQ(line.news(), (Names{"next"}));
}

TEST(AsyncKeyLifetime, CoroutinesOfADestroyedContextUnlockTheirKeys) {
  AsyncKeyLock keys;
  int alive = 0;
  {
    asio::io_context gone;
    const auto work = [&]() -> asio::awaitable<void> {
      const Witness witness(alive);
      const auto first = co_await keys.lock("a");
      const auto second = co_await keys.lock_all({"b", "c"});
      const auto shared = co_await keys.lock_shared("d");
      asio::steady_timer timer(gone, 1h);
      co_await timer.async_wait(asio::use_awaitable);
    };
    for (int i = 0; i < 3; ++i) asio::co_spawn(gone, work(), asio::detached);
    settle(gone);
    EXPECT_EQ(alive, 3);
    EXPECT_EQ(keys.size(), 4U);
  }
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(keys.size(), 0U);
}

// A context is destroyed while another thread unlocks and cancels the keys that its operations wait
// for.
TEST(AsyncKeyLifetime, AContextMayBeDestroyedWhileItsWaitersGetTheirKeys) {
  constexpr int kRounds = testing_support::kSanitized ? 300 : 3'000;
  constexpr int kWaiters = 8;
  AsyncKeyLock keys;
  int alive = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto gone = std::make_unique<asio::io_context>();
    std::optional<AsyncExclusiveGuard> holder = keys.try_lock("k");
    ASSERT_TRUE(holder);
    std::stop_source source;
    for (int i = 0; i < kWaiters; ++i) {
      auto token =
          asio::bind_executor(*gone, [witness = Witness(alive)](Error, AsyncExclusiveGuard) {});
      if (i % 2 == 0) {
        keys.lock("k", source.get_token(), std::move(token));
      } else {
        keys.lock("k", std::move(token));
      }
    }
    std::jthread stopper([&] { source.request_stop(); });
    std::jthread unlocker([&] { holder.reset(); });
    gone.reset();
    unlocker.join();
    stopper.join();
    ASSERT_EQ(alive, 0);
    ASSERT_EQ(keys.size(), 0U);
  }
}

}  // namespace
}  // namespace holdfast::async
