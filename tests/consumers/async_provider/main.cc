#include <cstdlib>
#include <memory>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/engines/memory/memory_store.h>

int main() {
  boost::asio::io_context context;
  holdfast::async::AsyncLockProvider provider(
      std::make_shared<holdfast::engines::memory::MemoryStore>());
  bool was_held = false;
  boost::asio::co_spawn(
      context,
      [&]() -> boost::asio::awaitable<void> {
        auto lock = co_await provider.acquire("job");
        was_held = lock.check().has_value();
      },
      boost::asio::detached);
  context.run();
  return was_held && provider.held() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
