#pragma once

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// Returns ErrorCode::invalid_argument if an option is outside the limits that redis_options.h
// names.
[[nodiscard]] base::Result<void> check_options(const RedisOptions& options);

}  // namespace holdfast::engines::redis::internal
