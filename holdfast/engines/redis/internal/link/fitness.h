#pragma once

#include <holdfast/engines/redis/internal/link/reply.h>

namespace holdfast::engines::redis::internal {

// Returns whether the server says that it takes no commands now: it has become a replica, is still
// starting, or its cluster is down. Nothing was changed, and another server may have the address
// by now: a new connection finds out.
[[nodiscard]] bool is_unfit(const Reply& reply) noexcept;

}  // namespace holdfast::engines::redis::internal
