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

// recipes::MultiLock for coroutines: several names that are held together, all or nothing, taken in
// the order of their bytes.
//
// Move-only; one thread at a time, but for `lost` and `check`, which any thread may ask. `lost`
// fires when the first of the locks is lost. Destruction gives all back in the background, the last
// name first.
//
//   MultiLock both = co_await acquire_all(provider, names, brief);
class [[nodiscard]] MultiLock {
 public:
  MultiLock() noexcept = default;
  // Of locks that are held, in the order in which they are to be released last.
  explicit MultiLock(std::vector<AsyncLock> locks);
  MultiLock(MultiLock&& other) noexcept = default;
  MultiLock& operator=(MultiLock&& other) noexcept;
  ~MultiLock();

  [[nodiscard]] std::stop_token lost() const;
  // An error unless every one is ours at this moment.
  [[nodiscard]] base::Result<void> check() const;
  // Gives all back, one after the other, and says whether every one was still ours; the first error
  // if there was one. The handle outlives it.
  [[nodiscard]] boost::asio::awaitable<base::Result<store::ReleaseOutcome>> release();

  // In the order of their names. Empty in a handle that holds nothing.
  [[nodiscard]] std::span<const AsyncLock> locks() const noexcept { return locks_; }
  explicit operator bool() const noexcept { return !locks_.empty(); }

 private:
  std::vector<AsyncLock> locks_;
  std::unique_ptr<recipes::AnyStop> any_lost_;  // after the locks: it listens to them
};

// Throws base::Exception as AsyncLockProvider::acquire does; invalid_argument without a name. The
// provider outlives it. A cancelled one gives back what it had taken.
[[nodiscard]] boost::asio::awaitable<MultiLock> acquire_all(AsyncLockProvider& provider,
                                                            std::vector<std::string> names,
                                                            locks::AcquireOptions options);
// Nothing if one of the names was not to be had within `options.wait` (default: at once).
[[nodiscard]] boost::asio::awaitable<base::Result<std::optional<MultiLock>>> try_acquire_all(
    AsyncLockProvider& provider, std::vector<std::string> names, locks::AcquireOptions options);

}  // namespace holdfast::async
