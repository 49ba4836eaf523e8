#include <cstdlib>
#include <iostream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/async/async_key_lock.h>

int main() {
  holdfast::async::AsyncKeyLock keys;
  boost::asio::io_context context;
  bool is_excluded = false;
  boost::asio::co_spawn(
      context,
      [&]() -> boost::asio::awaitable<void> {
        auto guard = co_await keys.lock("invoice:42");
        is_excluded = !keys.try_lock("invoice:42");
      },
      boost::asio::detached);
  context.run();

  if (!is_excluded || !keys.try_lock("invoice:42")) {
    std::cerr << "a coroutine's lock does not hold, or holds for too long\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
