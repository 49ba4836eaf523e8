#pragma once

#include <optional>
#include <utility>

#include <holdfast/base/error.h>

namespace holdfast::locks {

// Returns the outcome of a `try_acquire` as `acquire` does: nullopt is ErrorCode::timed_out.
template <class T>
[[nodiscard]] base::Result<T> or_timed_out(
    base::Result<std::optional<T>>&& outcome,
    const char* message = "the name was not free within the wait") {
  if (!outcome) {
    return std::unexpected(std::move(outcome).error());
  }
  if (!*outcome) {
    return base::fail(base::ErrorCode::timed_out, message);
  }
  return **std::move(outcome);
}

}  // namespace holdfast::locks
