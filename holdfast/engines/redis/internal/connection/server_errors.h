#pragma once

#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/connection/reply.h>

// The errors that a server answers with, by the word with which they begin.
namespace holdfast::engines::redis::internal {

namespace server_error {

inline constexpr std::string_view kNoScript = "NOSCRIPT";  // send the text of the script
inline constexpr std::string_view kNoAuth = "NOAUTH";
inline constexpr std::string_view kNoPermission = "NOPERM";
inline constexpr std::string_view kReadOnly = "READONLY";
inline constexpr std::string_view kLoading = "LOADING";
inline constexpr std::string_view kMasterDown = "MASTERDOWN";
inline constexpr std::string_view kClusterDown = "CLUSTERDOWN";

}  // namespace server_error

// Returns whether the server says that it takes no commands now: it has become a replica, is still
// starting, or its cluster is down. Nothing was changed, and another server may have the address
// by now: a new connection finds out.
[[nodiscard]] bool is_unfit(const Reply& reply) noexcept;

// Returns what an error that the server answered with means for the caller. All but `internal` were
// refused before anything was changed.
[[nodiscard]] base::Error failure_of(const Reply& error);

}  // namespace holdfast::engines::redis::internal
