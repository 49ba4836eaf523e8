#pragma once

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// ErrorCode::invalid_argument if one of them cannot be.
[[nodiscard]] base::Result<void> check_options(const RedisOptions& options);

}  // namespace holdfast::engines::redis::internal
