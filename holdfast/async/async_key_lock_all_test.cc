// Several keys at once.
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_key_lock.h>
#include <holdfast/async/key_testing_support.h>

namespace holdfast::async {
namespace {

using testing_support::settle;
namespace asio = boost::asio;
using Error = boost::system::error_code;
using Guards = std::vector<AsyncExclusiveGuard>;

class AsyncKeyAll : public testing::Test {
 protected:
  auto into(std::optional<Error>& result) {
    return asio::bind_executor(context, [&, this](Error error, Guards guards) {
      result = error;
      held = std::move(guards);
    });
  }

  AsyncKeyLock keys;
  asio::io_context context;
  Guards held;
};

TEST_F(AsyncKeyAll, LocksEachDifferentKeyOnce) {
  std::optional<Error> result;
  keys.lock_all({"b", "a", "b", "c"}, into(result));
  EXPECT_FALSE(result);
  settle(context);
  EXPECT_EQ(result, Error());
  EXPECT_EQ(held.size(), 3U);
  EXPECT_EQ(keys.size(), 3U);
  held.clear();
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(AsyncKeyAll, AnEmptyListCompletesThroughTheExecutor) {
  std::optional<Error> result;
  keys.lock_all({}, into(result));
  EXPECT_FALSE(result);
  settle(context);
  EXPECT_EQ(result, Error());
  EXPECT_TRUE(held.empty());
}

TEST_F(AsyncKeyAll, ReadersShare) {
  auto one = asio::co_spawn(context, keys.lock_all_shared({"a", "b"}), asio::use_future);
  auto two = asio::co_spawn(context, keys.lock_all_shared(std::vector<std::string>{"b", "c"}),
                            asio::use_future);
  settle(context);
  const auto first = one.get();
  const auto second = two.get();
  EXPECT_EQ(keys.size(), 3U);
  EXPECT_FALSE(keys.try_lock("b"));
  EXPECT_TRUE(keys.try_lock_shared("b"));
}

TEST_F(AsyncKeyAll, UnlocksItsKeysWhenItCannotLockAll) {
  const auto holder = keys.try_lock("b");
  std::optional<Error> result;
  keys.lock_all({"a", "b", "c"}, AsyncKeyWait(std::chrono::steady_clock::now()), into(result));
  context.run();
  EXPECT_EQ(result, Error(asio::error::timed_out));
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(keys.size(), 1U);
}

TEST_F(AsyncKeyAll, ACancellationBetweenTwoKeysCounts) {
  asio::cancellation_signal signal;
  std::optional<Error> result;
  keys.lock_all({"a", "b", "c"}, asio::bind_cancellation_slot(signal.slot(), into(result)));
  context.run_one();
  EXPECT_FALSE(result);
  signal.emit(asio::cancellation_type::total);  // the next key is on its way
  settle(context);
  EXPECT_EQ(result, Error(asio::error::operation_aborted));
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(AsyncKeyAll, EndsWhenTheLockIsDestroyedBetweenTwoKeys) {
  auto other = std::make_unique<AsyncKeyLock>();
  std::optional<Error> result;
  other->lock_all({"a", "b", "c"}, into(result));
  context.run_one();
  other.reset();
  settle(context);
  EXPECT_EQ(result, Error(asio::error::operation_aborted));
  EXPECT_TRUE(held.empty());
}

TEST_F(AsyncKeyAll, OppositeOrdersDoNotDeadlock) {
  asio::thread_pool pool(2);
  constexpr int kRounds = 500;
  int total = 0;  // protected by both keys
  const auto work = [&](std::string one, std::string two) -> asio::awaitable<void> {
    for (int i = 0; i < kRounds; ++i) {
      const auto both = co_await keys.lock_all({one, two});
      ++total;
      co_await asio::post(asio::use_awaitable);
    }
  };
  auto forth = asio::co_spawn(pool, work("a", "b"), asio::use_future);
  auto back = asio::co_spawn(pool, work("b", "a"), asio::use_future);
  forth.get();
  back.get();
  pool.join();
  EXPECT_EQ(total, 2 * kRounds);
  EXPECT_EQ(keys.size(), 0U);
}

}  // namespace
}  // namespace holdfast::async
