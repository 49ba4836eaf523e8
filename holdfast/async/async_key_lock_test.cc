#include <holdfast/async/async_key_lock.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/key_testing_support.h>
#include <holdfast/base/error.h>

namespace holdfast::async {
namespace {

using namespace std::chrono_literals;
using testing_support::Names;
using testing_support::settle;
namespace asio = boost::asio;
using Error = boost::system::error_code;

// Runs the coroutine to its end, on this thread; its exception is thrown here.
template <class Coroutine>
void run(Coroutine coroutine) {
  asio::io_context context;
  auto ended = asio::co_spawn(context, std::move(coroutine), asio::use_future);
  context.run();
  ended.get();
}

TEST(AsyncKeyLock, ExcludesOthersFromAHeldKeyAndFromNoOther) {
  AsyncKeyLock keys;
  run([&]() -> asio::awaitable<void> {
    const AsyncExclusiveGuard guard = co_await keys.lock("k");
    EXPECT_TRUE(guard);
    EXPECT_FALSE(keys.try_lock("k"));
    EXPECT_FALSE(keys.try_lock_shared("k"));
    EXPECT_TRUE(keys.try_lock("other"));
    EXPECT_EQ(keys.size(), 1U);
  });
  EXPECT_EQ(keys.size(), 0U);
  EXPECT_TRUE(keys.try_lock("k"));
}

TEST(AsyncKeyLock, ATryWithATimeIsEmptyIfTheKeyWasNotLockedInTime) {
  AsyncKeyLock keys;
  run([&]() -> asio::awaitable<void> {
    const auto guard = co_await keys.try_lock_for("k", 1h);
    EXPECT_TRUE(guard && *guard);
    EXPECT_FALSE(co_await keys.try_lock_for("k", 1ms));
    EXPECT_FALSE(co_await keys.try_lock_shared_for("k", 1ms));
    EXPECT_TRUE(co_await keys.try_lock_shared_for(std::string("other"), 1ms));
  });
  EXPECT_EQ(keys.size(), 0U);
}

TEST(AsyncKeyLock, ReadersShareAndExcludeWriters) {
  AsyncKeyLock keys;
  run([&]() -> asio::awaitable<void> {
    AsyncSharedGuard one = co_await keys.lock_shared("k");
    AsyncSharedGuard two = co_await keys.lock_shared("k");
    EXPECT_TRUE(keys.try_lock_shared("k"));
    EXPECT_FALSE(keys.try_lock("k"));
    one.unlock();
    EXPECT_FALSE(keys.try_lock("k"));
    two.unlock();
    EXPECT_TRUE(keys.try_lock("k"));
  });
  EXPECT_EQ(keys.size(), 0U);
}

TEST(AsyncKeyLock, KeysAreAnyBytes) {
  AsyncKeyLock keys;
  const std::string zero("a\0b", 3);
  const std::string long_key(10'000, 'x');
  const auto empty = keys.try_lock("");
  const auto with_zero = keys.try_lock(zero);
  const auto first = keys.try_lock("a");
  const auto upper = keys.try_lock("A");
  const auto very_long = keys.try_lock(long_key);
  EXPECT_TRUE(empty && with_zero && first && upper && very_long);
  EXPECT_FALSE(keys.try_lock(zero));
  EXPECT_FALSE(keys.try_lock(long_key));
  EXPECT_EQ(keys.size(), 5U);
}

TEST(AsyncKeyLock, ATemporaryKeyLivesUntilTheOperationBegins) {
  AsyncKeyLock keys;
  asio::io_context context;
  const auto name = [] { return std::string(100, 'k') + "ey"; };
  // The coroutine begins when the context runs, long after this statement.
  auto ended = asio::co_spawn(context, keys.lock(name()), asio::use_future);
  context.run();
  const AsyncExclusiveGuard guard = ended.get();
  EXPECT_FALSE(keys.try_lock(name()));
}

TEST(AsyncKeyLock, UnlockingResumesTheNextLaterAndNotInside) {
  AsyncKeyLock keys;
  asio::io_context context;
  auto guard = keys.try_lock("k");
  bool is_next_in = false;
  keys.lock("k", asio::bind_executor(context, [&](Error error, AsyncExclusiveGuard next) {
              is_next_in = !error && next;
            }));
  settle(context);
  // Inside the context's own thread, where dispatch() would run it at once.
  asio::post(context, [&] {
    guard->unlock();
    EXPECT_FALSE(is_next_in);
    EXPECT_FALSE(keys.try_lock("k"));  // the waiter has the key already
  });
  settle(context);
  EXPECT_TRUE(is_next_in);
}

TEST(AsyncKeyLock, AFreeKeyDoesNotCallTheHandlerInTheCall) {
  AsyncKeyLock keys;
  asio::io_context context;
  bool is_called = false;
  asio::post(context, [&] {
    keys.lock("k",
              asio::bind_executor(context, [&](Error, AsyncExclusiveGuard) { is_called = true; }));
    EXPECT_FALSE(is_called);
  });
  context.run();
  EXPECT_TRUE(is_called);
}

TEST(AsyncKeyLock, TakesAnyCompletionToken) {
  AsyncKeyLock keys;
  asio::thread_pool pool(1);
  // A future; the handler has no executor, so Asio's system executor serves it.
  std::future<AsyncExclusiveGuard> future = keys.lock("k", asio::use_future);
  AsyncExclusiveGuard guard = future.get();
  std::future<AsyncExclusiveGuard> waiting = keys.lock("k", asio::use_future);
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  guard.unlock();
  AsyncExclusiveGuard next = waiting.get();
  EXPECT_TRUE(next);

  // A callback.
  std::promise<bool> called;
  keys.lock_shared("other", asio::bind_executor(pool, [&](Error error, AsyncSharedGuard shared) {
                     called.set_value(!error && shared);
                   }));
  EXPECT_TRUE(called.get_future().get());

  // An operation that begins later.
  auto later = keys.lock("later", asio::deferred);
  EXPECT_TRUE(keys.try_lock("later"));
  EXPECT_TRUE(std::move(later)(asio::use_future).get());

  // The error as a value, in a coroutine.
  run([&]() -> asio::awaitable<void> {
    auto [error, none] = co_await keys.lock_for("k", 0s, asio::as_tuple(asio::use_awaitable));
    EXPECT_EQ(error, asio::error::timed_out);
    EXPECT_FALSE(none);
  });
  pool.join();
}

TEST(AsyncKeyLock, CompletesOnTheHandlersExecutor) {
  AsyncKeyLock keys;
  asio::thread_pool pool(2);
  auto strand = asio::make_strand(pool);
  AsyncExclusiveGuard holder = *keys.try_lock("k");
  std::promise<bool> free_key;
  keys.lock("free", asio::bind_executor(strand, [&](Error, AsyncExclusiveGuard) {
              free_key.set_value(strand.running_in_this_thread());
            }));
  std::promise<bool> waited;
  keys.lock("k", asio::bind_executor(strand, [&](Error, AsyncExclusiveGuard) {
              waited.set_value(strand.running_in_this_thread());
            }));
  EXPECT_TRUE(free_key.get_future().get());
  holder.unlock();
  EXPECT_TRUE(waited.get_future().get());
  pool.join();
}

TEST(AsyncKeyLock, SeveralContextsShareIt) {
  AsyncKeyLock keys;
  asio::io_context here;
  asio::io_context there;
  Names order;
  // The next waiter runs in its own context, not in that of the unlocking coroutine.
  std::optional<AsyncExclusiveGuard> holder = keys.try_lock("k");
  keys.lock("k", asio::bind_executor(
                     there, [&](Error, AsyncExclusiveGuard) { order.push_back("there"); }));
  keys.lock(
      "k", asio::bind_executor(here, [&](Error, AsyncExclusiveGuard) { order.push_back("here"); }));
  holder.reset();
  settle(here);
  EXPECT_EQ(order, Names{});
  settle(there);
  EXPECT_EQ(order, (Names{"there"}));
  settle(here);
  EXPECT_EQ(order, (Names{"there", "here"}));
  EXPECT_EQ(keys.size(), 0U);
}

TEST(AsyncKeyLock, AWaiterIsWorkForItsContext) {
  AsyncKeyLock keys;
  asio::io_context context;
  std::optional<AsyncExclusiveGuard> holder = keys.try_lock("k");
  bool is_in = false;
  keys.lock("k", asio::bind_executor(context, [&](Error, AsyncExclusiveGuard) { is_in = true; }));
  settle(context);
  EXPECT_FALSE(context.stopped());  // run() would not return
  holder.reset();
  settle(context);
  EXPECT_TRUE(is_in);
  EXPECT_TRUE(context.stopped());
}

TEST(AsyncKeyLock, SnapshotShowsHoldersAndWaiters) {
  AsyncKeyLock keys;
  asio::io_context context;
  testing_support::Line line(keys, context);
  line.reader("one");
  line.reader("two");
  line.writer("three");
  line.reader("four");
  const auto states = keys.snapshot();
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0], (local::KeyState{.key = "k",
                                        .exclusive = false,
                                        .readers = 2,
                                        .waiting_exclusive = 1,
                                        .waiting_shared = 1}));
}

TEST(AsyncKeyLock, CountsWhatItDid) {
  AsyncKeyLock keys;
  asio::io_context context;
  testing_support::Line line(keys, context);
  EXPECT_EQ(keys.stats(), local::KeyLockStats());
  line.writer("first");
  line.reader("second");
  line.reader("third");
  line.writer("cancelled");
  line.cancel("cancelled");
  line.writer("late", AsyncKeyWait(std::chrono::steady_clock::time_point::min()));
  std::stop_source stopped;
  stopped.request_stop();
  line.writer("stopped", AsyncKeyWait(stopped.get_token()));
  EXPECT_EQ(keys.stats().acquisitions, 1U);
  line.let_go("first");
  line.let_go("second");
  line.let_go("third");
  EXPECT_TRUE(keys.try_lock("k"));
  const local::KeyLockStats stats = keys.stats();
  EXPECT_EQ(stats.acquisitions, 4U);
  EXPECT_EQ(stats.contended, 2U);
  EXPECT_EQ(stats.timed_out, 1U);
  EXPECT_EQ(stats.cancelled, 2U);
  EXPECT_GT(stats.longest_wait, std::chrono::nanoseconds::zero());
  EXPECT_GE(stats.wait_time, stats.longest_wait);
  EXPECT_LE(stats.wait_time, 2 * stats.longest_wait);
}

TEST(AsyncKeyGuard, MovesAndUnlocksOnce) {
  AsyncKeyLock keys;
  AsyncExclusiveGuard guard = *keys.try_lock("k");
  AsyncExclusiveGuard moved = std::move(guard);
  EXPECT_FALSE(guard.holds());  // NOLINT(bugprone-use-after-move): that is the point
  guard.unlock();
  EXPECT_FALSE(keys.try_lock("k"));
  moved = *keys.try_lock("other");  // unlocks "k"
  EXPECT_TRUE(keys.try_lock("k"));
  EXPECT_FALSE(keys.try_lock("other"));
  moved.unlock();
  moved.unlock();
  EXPECT_EQ(keys.size(), 0U);
}

TEST(AsyncKeyGuard, DowngradeLetsInTheFirstReadersAndNoWriter) {
  AsyncKeyLock keys;
  asio::io_context context;
  testing_support::Line line(keys, context);
  AsyncExclusiveGuard writer = *keys.try_lock("k");
  line.reader("reader");
  line.writer("writer");
  AsyncSharedGuard shared = std::move(writer).downgrade();
  settle(context);
  EXPECT_FALSE(writer);  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_EQ(line.news(), (Names{"reader"}));
  line.let_go("reader");
  EXPECT_EQ(line.news(), Names{});
  shared.unlock();
  settle(context);
  EXPECT_EQ(line.news(), (Names{"writer"}));
  EXPECT_FALSE(AsyncExclusiveGuard().downgrade());
}

TEST(AsyncKeyLockLimit, ACoroutineBeyondTheLimitFailsAtOnce) {
  AsyncKeyLock keys({.max_waiters = 1});
  asio::io_context context;
  const auto held = keys.try_lock("key");
  std::vector<boost::system::error_code> errors;
  for (int i = 0; i < 3; ++i) {
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          try {
            const auto guard = co_await keys.lock("key");
          } catch (const boost::system::system_error& error) {
            errors.push_back(error.code());
          }
        },
        asio::detached);
  }
  testing_support::settle(context);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors.front(), limit_exceeded());
  EXPECT_FALSE(keys.try_lock("key")) << "a try never waits, and is not refused for the limit";
}

TEST(AsyncKeyLockLimit, ALimitOfZeroIsRefused) {
  EXPECT_THROW(AsyncKeyLock({.max_waiters = 0}), base::Exception);
}

}  // namespace
}  // namespace holdfast::async
