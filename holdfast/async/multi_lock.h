#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/recipes/any_stop.h>

namespace holdfast::async {

// recipes::MultiLock for coroutines: several names that are held together, all or none, acquired in
// byte order.
//
// Move-only; one thread at a time, except `lost` and `check`, which any thread may call. `lost`
// fires when the first of the locks is lost. Destruction releases all in the background, the last
// name first.
//
//   MultiLock both = co_await acquire_all(provider, names, brief);
class [[nodiscard]] MultiLock {
 public:
  MultiLock() noexcept = default;
  // Takes locks that are held; they are released in reverse order.
  explicit MultiLock(std::vector<AsyncLock> locks);
  MultiLock(MultiLock&& other) noexcept = default;
  MultiLock& operator=(MultiLock&& other) noexcept;
  ~MultiLock();

  [[nodiscard]] std::stop_token lost() const;
  // Returns an error unless all locks are still held at this moment.
  [[nodiscard]] base::Result<void> check() const;
  // Releases all, one after the other, and returns whether every one was still held, or the first
  // error. The handle must outlive it.
  [[nodiscard]] boost::asio::awaitable<base::Result<store::ReleaseOutcome>> release();

  // Returns the locks in the order of their names. Empty in a handle that holds nothing.
  [[nodiscard]] std::span<const AsyncLock> locks() const noexcept { return locks_; }
  explicit operator bool() const noexcept { return !locks_.empty(); }

 private:
  std::vector<AsyncLock> locks_;
  std::unique_ptr<recipes::AnyStop> any_lost_;  // after the locks: it listens to them
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
