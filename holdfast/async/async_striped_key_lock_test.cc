#include <holdfast/async/async_striped_key_lock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/testing_support.h>
#include <holdfast/base/error.h>

namespace holdfast::async {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Returns two keys that share a stripe, and one that has another.
struct Keys {
  explicit Keys(const AsyncStripedKeyLock& locks) {
    for (int i = 0; second.empty() || elsewhere.empty(); ++i) {
      const std::string key = "key " + std::to_string(i);
      (locks.stripe_of(key) == locks.stripe_of(first) ? second : elsewhere) = key;
    }
  }
  std::string first = "first";
  std::string second{};
  std::string elsewhere{};
};

class AsyncStripedKeyLockTest : public ::testing::Test {
 protected:
  // Runs the coroutine to its end; an exception from it is thrown here.
  template <class Coroutine>
  void run(Coroutine&& coroutine) {
    spawn(context, std::forward<Coroutine>(coroutine));
    context.restart();
    context.run();
  }

  asio::io_context context;
  AsyncStripedKeyLock locks{8};
  const Keys keys{locks};
};

TEST_F(AsyncStripedKeyLockTest, KeysOfOneStripeExcludeEachOtherAndOthersDoNot) {
  run([&]() -> asio::awaitable<void> {
    const auto held = co_await locks.lock(keys.first);
    EXPECT_FALSE(locks.try_lock(keys.second));
    EXPECT_TRUE(locks.try_lock(keys.elsewhere));
  });
  EXPECT_TRUE(locks.try_lock(keys.second));
}

TEST_F(AsyncStripedKeyLockTest, ReadersShareAStripeAndExcludeAWriter) {
  run([&]() -> asio::awaitable<void> {
    const auto one = co_await locks.lock_shared(keys.first);
    const auto two = co_await locks.lock_shared_for(keys.second, 1h);
    EXPECT_TRUE(locks.try_lock_shared(keys.first));
    EXPECT_FALSE(locks.try_lock(keys.second));
  });
}

TEST_F(AsyncStripedKeyLockTest, AWaitEndsAtItsDeadlineAndByItsStopToken) {
  const auto held = locks.try_lock(keys.first);
  std::stop_source stop;
  stop.request_stop();
  const std::vector<AsyncKeyWait> waits = {
      AsyncKeyWait(std::chrono::steady_clock::time_point::min()), AsyncKeyWait(stop.get_token())};
  std::vector<boost::system::error_code> ends;
  run([&]() -> asio::awaitable<void> {
    for (const AsyncKeyWait& wait : waits) {
      try {
        static_cast<void>(co_await locks.lock(keys.second, wait));
      } catch (const boost::system::system_error& error) {
        ends.push_back(error.code());
      }
    }
  });
  EXPECT_EQ(ends, (std::vector<boost::system::error_code>{asio::error::timed_out,
                                                          asio::error::operation_aborted}));
}

TEST_F(AsyncStripedKeyLockTest, SeveralKeysLockEachStripeOnce) {
  run([&]() -> asio::awaitable<void> {
    {
      const auto all =
          co_await locks.lock_all({keys.first, keys.second, keys.elsewhere, keys.first});
      EXPECT_EQ(all.size(), 2U);
      EXPECT_FALSE(locks.try_lock(keys.second));
    }
    const auto shared = co_await locks.lock_all_shared({keys.first, keys.second});
    EXPECT_EQ(shared.size(), 1U);
    EXPECT_TRUE(locks.try_lock_shared(keys.first));
  });
}

TEST_F(AsyncStripedKeyLockTest, CallersThatLockSeveralKeysInAnyOrderNeverDeadlock) {
  constexpr int kCallers = 32;
  constexpr int kRounds = 20;
  int counter = 0;  // protected by the stripes
  for (int caller = 0; caller < kCallers; ++caller) {
    std::vector<std::string> order = {keys.first, keys.elsewhere, keys.second, "more"};
    std::ranges::rotate(order, order.begin() + caller % 4);
    spawn(context, [&, order]() -> asio::awaitable<void> {
      for (int round = 0; round < kRounds; ++round) {
        const auto all = co_await locks.lock_all(KeyList(order));
        const int before = counter;
        co_await asio::post(context, asio::use_awaitable);
        counter = before + 1;
      }
    });
  }
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { context.run(); });
  threads.clear();
  EXPECT_EQ(counter, kCallers * kRounds);
  EXPECT_TRUE(locks.snapshot().empty());
}

TEST_F(AsyncStripedKeyLockTest, AnyNumberOfKeysHoldsNoMoreThanTheStripes) {
  std::vector<AsyncExclusiveGuard> held;
  for (int i = 0; i < 10'000; ++i) {
    if (auto guard = locks.try_lock("key " + std::to_string(i))) held.push_back(*std::move(guard));
  }
  EXPECT_EQ(held.size(), locks.stripes());
  const auto states = locks.snapshot();
  ASSERT_EQ(states.size(), 8U);
  for (std::size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(states[i], (local::StripeState{.stripe = i, .exclusive = true}));
  }
}

TEST_F(AsyncStripedKeyLockTest, ShowsItsWaitersAndCountsThem) {
  std::optional<AsyncExclusiveGuard> held = locks.try_lock(keys.first);
  for (const std::string& key : {keys.first, keys.second}) {
    spawn(context, [&, key]() -> asio::awaitable<void> {
      static_cast<void>(co_await locks.lock_shared(key));
    });
  }
  context.poll();
  EXPECT_EQ(locks.snapshot(),
            (std::vector{local::StripeState{
                .stripe = locks.stripe_of(keys.first), .exclusive = true, .waiting_shared = 2}}));
  held.reset();
  context.restart();
  context.run();
  EXPECT_TRUE(locks.snapshot().empty());
  EXPECT_EQ(locks.stats().acquisitions, 3U);
  EXPECT_EQ(locks.stats().contended, 2U);
}

TEST(AsyncStripedKeyLockOptions, ANumberOfStripesOutOfItsRangeIsATypedError) {
  EXPECT_EQ(AsyncStripedKeyLock(5).stripes(), 8U);
  EXPECT_EQ(AsyncStripedKeyLock().stripes(), 1024U);
  for (const std::size_t stripes : {std::size_t{0}, (std::size_t{1} << 20U) + 1}) {
    try {
      const AsyncStripedKeyLock refused(stripes);
      ADD_FAILURE() << stripes << " stripes were accepted";
    } catch (const base::Exception& error) {
      EXPECT_EQ(error.code(), base::ErrorCode::invalid_argument);
    }
  }
  EXPECT_THROW(AsyncStripedKeyLock(8, {.max_waiters = 0}), base::Exception);
}

}  // namespace
}  // namespace holdfast::async
