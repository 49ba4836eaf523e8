#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/internal/refuse_unnamed.h>
#include <holdfast/async/key_list.h>
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
//   AsyncMultiLock both = co_await acquire_all(provider, {"account/anna", "account/bert"}, brief);
class [[nodiscard]] AsyncMultiLock : public recipes::BasicMultiLock<AsyncLock> {
 public:
  using BasicMultiLock::BasicMultiLock;

  // Releases all, one after the other, and returns whether every one was still held, or the first
  // error. The handle must outlive it.
  [[nodiscard]] boost::asio::awaitable<base::Result<store::ReleaseOutcome>> release();
};

namespace internal {

// Keep a copy of the options in the coroutine.
[[nodiscard]] boost::asio::awaitable<AsyncMultiLock> acquire_all(AsyncLockProvider& provider,
                                                                 std::vector<std::string> names,
                                                                 locks::AcquireOptions options);
[[nodiscard]] boost::asio::awaitable<base::Result<std::optional<AsyncMultiLock>>> try_acquire_all(
    AsyncLockProvider& provider, std::vector<std::string> names, locks::AcquireOptions options);

}  // namespace internal

// Throws base::Exception as AsyncLockProvider::acquire does; invalid_argument without a name. The
// provider must outlive it. A cancelled call releases what it had acquired.
[[nodiscard]] inline boost::asio::awaitable<AsyncMultiLock> acquire_all(
    AsyncLockProvider& provider, const KeyList& names, const locks::AcquireOptions& options) {
  return internal::acquire_all(provider, names.keys(), options);
}
// Returns nullopt if one of the names was not acquired within `options.wait` (default: zero).
[[nodiscard]] inline boost::asio::awaitable<base::Result<std::optional<AsyncMultiLock>>>
try_acquire_all(AsyncLockProvider& provider, const KeyList& names,
                const locks::AcquireOptions& options) {
  return internal::try_acquire_all(provider, names.keys(), options);
}

// Do not compile: the options need a name.
template <class... Nothing>
void acquire_all(AsyncLockProvider& /*provider*/, const KeyList& /*names*/,
                 locks::AcquireOptions&& /*options*/, Nothing&&... /*nothing*/) {
  internal::refuse_unnamed_options<Nothing...>();
}
template <class... Nothing>
void try_acquire_all(AsyncLockProvider& /*provider*/, const KeyList& /*names*/,
                     locks::AcquireOptions&& /*options*/, Nothing&&... /*nothing*/) {
  internal::refuse_unnamed_options<Nothing...>();
}

}  // namespace holdfast::async
