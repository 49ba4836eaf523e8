#pragma once

#include <string>
#include <string_view>

namespace holdfast::store {

// Names that begin with this are reserved: each has the leases by which the waiters for another
// name show that they wait (see locks/waiters.h). LeaseStore::list leaves them out, unless the
// prefix that it is asked for begins with this itself.
inline constexpr std::string_view kWaitingPrefix = "holdfast.waiting/";

[[nodiscard]] constexpr bool is_waiting_name(std::string_view name) noexcept {
  return name.starts_with(kWaitingPrefix);
}

// Returns the name at which the waiters for `name` show themselves.
[[nodiscard]] inline std::string waiting_name(std::string_view name) {
  return std::string(kWaitingPrefix).append(name);
}

}  // namespace holdfast::store
