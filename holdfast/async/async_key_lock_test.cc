#include <holdfast/async/async_key_lock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
namespace holdfast::async {
namespace asio = boost::asio;
TEST(AsyncKeyLock, X) {
  asio::io_context context;
  AsyncKeyLock keys;
  int n = 0;
  auto one = [&]() -> asio::awaitable<void> {
    auto guard = co_await keys.lock("k");
    ++n;
    auto x = keys.try_lock("k");
    EXPECT_FALSE(x);
    co_await asio::post(asio::use_awaitable);
    auto both = co_await keys.lock_all({"a", "b"});
    EXPECT_EQ(both.size(), 2u);
    auto t = co_await keys.lock_for("t", std::chrono::seconds(5));
    co_await asio::post(asio::use_awaitable);
  };
  asio::co_spawn(context, one(), asio::detached);
  asio::co_spawn(context, one(), asio::detached);
  context.run();
  EXPECT_EQ(n, 2);
  EXPECT_EQ(keys.size(), 0u);
}
}
