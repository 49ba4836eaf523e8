#pragma once

#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

#include <holdfast/base/error.h>
#include <holdfast/objects/internal/member_function.h>

namespace holdfast::objects::internal {

// Returns the current exception as an error: of a base::Exception its own error, of any other
// ErrorCode::failed.
[[nodiscard, gnu::cold]] base::Error current_failure();

// Returns the current exception as an error of the caller, whose request does not fit.
[[nodiscard, gnu::cold]] base::Error bad_request();

// Returns "what: message", with the same code.
[[nodiscard, gnu::cold]] base::Error in_context(std::string_view what, base::Error error);

// Runs user code; an exception becomes an error.
template <class Work>
auto run_user_code(Work&& work) -> base::Result<Value<std::invoke_result_t<Work>>> {
  using Reply = std::invoke_result_t<Work>;
  try {
    if constexpr (std::is_void_v<Reply>) {
      std::forward<Work>(work)();
      return {};
    } else {
      return std::forward<Work>(work)();
    }
  } catch (...) {
    return std::unexpected(current_failure());
  }
}

}  // namespace holdfast::objects::internal
