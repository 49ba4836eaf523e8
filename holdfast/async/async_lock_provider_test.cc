#include <holdfast/async/async_lock_provider.h>

#include <future>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/testing_support.h>
#include <holdfast/engines/memory/memory_store.h>

namespace holdfast::async {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using base::ErrorCode;
using engines::memory::MemoryStore;
using locks::AcquireOptions;

class AsyncLockProviderTest : public ::testing::Test {
 protected:
  asio::io_context context_;
  locks::LockProvider threads_{std::make_shared<MemoryStore>()};
  AsyncLockProvider provider_{threads_};
};

TEST_F(AsyncLockProviderTest, AcquiresAndReleases) {
  bool done = false;
  spawn(context_, [&]() -> asio::awaitable<void> {
    AsyncLock lock = co_await provider_.acquire("job");
    EXPECT_TRUE(lock.check());
    EXPECT_EQ(provider_.held(), 1U);
    const auto state = co_await provider_.look("job");
    EXPECT_EQ((*state)->holders.at(0).id, lock.id());
    EXPECT_EQ(co_await lock.release(), store::ReleaseOutcome::released);
    EXPECT_EQ(co_await lock.release(), store::ReleaseOutcome::not_held);
    done = true;
  });
  context_.run();
  EXPECT_TRUE(done);
  EXPECT_EQ(provider_.held(), 0U);
}

TEST_F(AsyncLockProviderTest, ContentionIsAValueAndATimeoutAnException) {
  const locks::Lock held = threads_.acquire("job");
  std::optional<ErrorCode> thrown;
  spawn(context_, [&]() -> asio::awaitable<void> {
    const auto busy = co_await provider_.try_acquire("job");
    EXPECT_TRUE(busy && !*busy);
    const AcquireOptions brief{.wait = 1ms};
    try {
      (void)co_await provider_.acquire("job", brief);
    } catch (const base::Exception& error) {
      thrown = error.code();
    }
  });
  context_.run();
  EXPECT_EQ(thrown, ErrorCode::timed_out);
  EXPECT_EQ(provider_.waiting(), 0U);
}

TEST_F(AsyncLockProviderTest, AThreadHandsTheNameToACoroutineAndBack) {
  std::optional<locks::Lock> first = threads_.acquire("job");
  base::FencingToken second(0);
  spawn(context_, [&]() -> asio::awaitable<void> {
    AsyncLock lock = co_await provider_.acquire("job");
    second = lock.token();
    co_await lock.release();
  });
  context_.run_one();  // the coroutine has begun, and waits
  EXPECT_EQ(threads_.waiting(), 1U);
  const base::FencingToken one = first->token();
  // In the same queue as threads, and behind the coroutine.
  std::jthread third([&] { EXPECT_GT(threads_.acquire("job").token(), second); });
  while (threads_.waiting() < 2) {
    std::this_thread::yield();
  }
  first.reset();
  context_.run();
  EXPECT_GT(second, one);
}

TEST_F(AsyncLockProviderTest, AnyExecutorOfTheHandlerIsUsed) {
  asio::thread_pool pool(2);
  const auto strand = asio::make_strand(pool);
  std::promise<bool> on_strand;
  static const AcquireOptions kHow;
  provider_.try_acquire("job", kHow, asio::bind_executor(strand, [&](auto lock) {
                          EXPECT_TRUE(lock && *lock);
                          on_strand.set_value(strand.running_in_this_thread());
                        }));
  EXPECT_TRUE(on_strand.get_future().get());
  provider_.wait_for_background();
  // Without an executor: a future.
  AsyncLock lock = provider_.acquire("job", kHow, asio::use_future).get();
  EXPECT_TRUE(lock.check());
  EXPECT_EQ(lock.release(asio::use_future).get(), store::ReleaseOutcome::released);
  pool.join();
}

TEST_F(AsyncLockProviderTest, AHandlerIsNeverCalledFromTheInitiatingFunction) {
  bool called = false;
  const AcquireOptions how;
  provider_.try_acquire("free", how, asio::bind_executor(context_, [&](auto&&) { called = true; }));
  EXPECT_FALSE(called);
  context_.run();
  EXPECT_TRUE(called);
}

TEST_F(AsyncLockProviderTest, AnEmptyHandleIsHarmless) {
  AsyncLock lock;
  EXPECT_FALSE(lock);
  EXPECT_EQ(lock.check().error().code, ErrorCode::not_held);
  EXPECT_EQ(lock.release(asio::use_future).get(), store::ReleaseOutcome::not_held);
  EXPECT_EQ(lock.reduce(1, asio::use_future).get().error().code, ErrorCode::not_held);
}

TEST_F(AsyncLockProviderTest, TheEndOfAScopeReleasesToTheNextWaiter) {
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    spawn(context_, [&, i]() -> asio::awaitable<void> {
      const AsyncLock lock = co_await provider_.acquire("job");
      order.push_back(i);
    });
  }
  context_.run();
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
  EXPECT_EQ(provider_.held(), 0U);
}

TEST_F(AsyncLockProviderTest, ASignalAndAStopTokenEndAWaitWithCancelled) {
  const locks::Lock held = threads_.acquire("job");
  asio::cancellation_signal signal;
  std::stop_source stop;
  std::vector<ErrorCode> ends;
  const auto note = [&](const auto& outcome) { ends.push_back(outcome.error().code); };
  AcquireOptions how{.wait = 1h};
  provider_.try_acquire(
      "job", how, asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(context_, note)));
  how.stop = stop.get_token();
  provider_.try_acquire("job", how, asio::bind_executor(context_, note));
  EXPECT_EQ(provider_.waiting(), 2U);
  signal.emit(asio::cancellation_type::total);
  stop.request_stop();
  context_.run();
  EXPECT_EQ(ends, (std::vector{ErrorCode::cancelled, ErrorCode::cancelled}));
  EXPECT_EQ(provider_.waiting(), 0U);
}

TEST_F(AsyncLockProviderTest, TheEndOfTheProviderEndsItsWaits) {
  auto own = std::make_optional<AsyncLockProvider>(std::make_shared<MemoryStore>());
  std::optional<ErrorCode> end;
  const locks::Lock held = own->blocking().acquire("job");
  const AcquireOptions how{.wait = 1h};
  own->try_acquire("job", how, asio::bind_executor(context_, [&](const auto& outcome) {
                     end = outcome.error().code;
                   }));
  own.reset();
  context_.run();
  EXPECT_EQ(end, ErrorCode::cancelled);
}

TEST_F(AsyncLockProviderTest, ALockMayBeReducedAndKept) {
  spawn(context_, [&]() -> asio::awaitable<void> {
    AcquireOptions all{.permits = store::Permits::of(3, 3), .on_destroy = locks::OnDestroy::keep};
    AsyncLock lock = co_await provider_.acquire("pool", all);
    EXPECT_TRUE(co_await lock.reduce(1));
    EXPECT_EQ(lock.permits(), store::Permits::of(1, 3));
    EXPECT_EQ((co_await lock.reduce(2)).error().code, ErrorCode::invalid_argument);
  });
  context_.run();
  EXPECT_EQ(provider_.held(), 0U);
  const auto state = base::value_or_throw(threads_.look("pool"));
  EXPECT_EQ(state->holders.at(0).permits, 1U);
}

}  // namespace
}  // namespace holdfast::async
