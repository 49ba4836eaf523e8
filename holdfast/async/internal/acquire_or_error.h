#pragma once

#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>

namespace holdfast::async::internal {

// Acquires as AsyncLockProvider::acquire does, and completes with its error, which names the holder
// if the wait was over. Never completes with nullopt.
[[nodiscard]] boost::asio::awaitable<base::Result<std::optional<AsyncLock>>> acquire_or_error(
    AsyncLockProvider& provider, std::string name, const locks::AcquireOptions& how);
// Acquires as AsyncLockProvider::try_acquire does.
[[nodiscard]] boost::asio::awaitable<base::Result<std::optional<AsyncLock>>> acquire_if_free(
    AsyncLockProvider& provider, std::string name, const locks::AcquireOptions& how);

}  // namespace holdfast::async::internal
