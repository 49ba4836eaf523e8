#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/recipes/basic_multi_lock.h>

namespace holdfast::async {

// recipes::MultiLock for coroutines: several names that are held together, all or none, acquired in
// byte order.
//
// Move-only; one thread at a time, except `lost` and `check`, which any thread may call. `lost`
// fires when the first of the locks is lost. Destruction releases all in the background, the last
// name first.
//
//   MultiLock both = co_await acquire_all(provider, names, brief);
class [[nodiscard]] MultiLock : public recipes::BasicMultiLock<AsyncLock> {
 public:
  using BasicMultiLock::BasicMultiLock;

  // Releases all, one after the other, and returns whether every one was still held, or the first
  // error. The handle must outlive it.
  [[nodiscard]] boost::asio::awaitable<base::Result<store::ReleaseOutcome>> release();
};

// Throws base::Exception as AsyncLockProvider::acquire does; invalid_argument without a name. The
// provider must outlive it. A cancelled call releases what it had acquired.
[[nodiscard]] boost::asio::awaitable<MultiLock> acquire_all(AsyncLockProvider& provider,
                                                            std::vector<std::string> names,
                                                            locks::AcquireOptions options);
// Returns nullopt if one of the names was not acquired within `options.wait` (default: zero).
[[nodiscard]] boost::asio::awaitable<base::Result<std::optional<MultiLock>>> try_acquire_all(
    AsyncLockProvider& provider, std::vector<std::string> names, locks::AcquireOptions options);

}  // namespace holdfast::async
