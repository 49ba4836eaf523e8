#pragma once

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/link/reply.h>

namespace holdfast::engines::redis::internal {

// What an error that the server answered with means for the caller. All but `internal` were refused
// before anything was changed.
[[nodiscard]] base::Error failure_of(const Reply& error);

}  // namespace holdfast::engines::redis::internal
