#include <holdfast/async/internal/acquire_or_error.h>

#include <utility>

namespace holdfast::async::internal {

namespace asio = boost::asio;
using base::Result;
using locks::AcquireOptions;

asio::awaitable<Result<std::optional<AsyncLock>>> acquire_or_error(AsyncLockProvider& provider,
                                                                   std::string name,
                                                                   const AcquireOptions& how) {
  try {
    AsyncLock lock = co_await provider.acquire(std::move(name), how);
    co_return std::optional(std::move(lock));
  } catch (const base::Exception& refused) {
    co_return std::unexpected(refused.error());
  }
}

asio::awaitable<Result<std::optional<AsyncLock>>> acquire_if_free(AsyncLockProvider& provider,
                                                                  std::string name,
                                                                  const AcquireOptions& how) {
  return provider.try_acquire(std::move(name), how);
}

}  // namespace holdfast::async::internal
