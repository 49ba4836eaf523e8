#pragma once

#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>
#include <holdfast/store/finding.h>

namespace holdfast::engines::redis {

using store::Finding;

// Asks a server for its version and settings, on a connection of its own. Fails as
// open_store() does.
[[nodiscard]] base::Result<std::vector<Finding>> diagnose(const RedisOptions& options);

}  // namespace holdfast::engines::redis
