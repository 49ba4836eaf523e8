#pragma once

#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>
#include <holdfast/store/finding.h>

namespace holdfast::engines::redis {

using store::Finding;

// Asks a server for its version, its settings and its replicas, on a connection of its own; asks
// each replica for its clock, and each Sentinel of the options for what it knows. Fails as the
// first operation of a store does.
[[nodiscard]] base::Result<std::vector<Finding>> diagnose(const RedisOptions& options);

}  // namespace holdfast::engines::redis
