#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/base/error.h>
#include <holdfast/base/printable.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {

// Returns the error of a wait for `name` that was over before the name was free. `held_by` is the
// owner label of its holder, empty if that is not known.
[[nodiscard]] inline base::Error timed_out(std::string_view name, std::string_view held_by = {}) {
  return {base::ErrorCode::timed_out,
          base::printable(name) + " was not free within the wait" +
              (held_by.empty() ? "" : ": it is held by " + base::printable(held_by))};
}

// Returns the outcome of a `try_acquire` as `acquire` does: nullopt is the error that `why`
// returns.
template <class T, class Why>
[[nodiscard]] base::Result<T> or_timed_out(base::Result<std::optional<T>>&& outcome, Why&& why) {
  if (!outcome) {
    return std::unexpected(std::move(outcome).error());
  }
  if (!*outcome) {
    return std::unexpected(std::forward<Why>(why)());
  }
  return **std::move(outcome);
}

// Acquires as LockProvider::acquire does, and returns its error, which names the holder if the wait
// was over. Never returns nullopt.
[[nodiscard]] inline base::Result<std::optional<Lock>> acquire_or_error(LockProvider& provider,
                                                                        std::string_view name,
                                                                        const AcquireOptions& how) {
  try {
    return provider.acquire(name, how);
  } catch (const base::Exception& refused) {
    return std::unexpected(refused.error());
  }
}

}  // namespace holdfast::locks
