#include <holdfast/async/async_lock_provider.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <holdfast/engines/memory/memory_store.h>

namespace holdfast::async {
namespace {

namespace asio = boost::asio;
using engines::memory::MemoryStore;

TEST(AsyncLockProvider, AcquiresAndReleases) {
  asio::io_context context;
  AsyncLockProvider provider(std::make_shared<MemoryStore>());
  bool done = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        AsyncLock lock = co_await provider.acquire("job");
        EXPECT_TRUE(lock.check());
        EXPECT_EQ(co_await lock.release(), store::ReleaseOutcome::released);
        done = true;
      },
      asio::detached);
  context.run();
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace holdfast::async
