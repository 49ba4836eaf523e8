#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/engines/redis/redis_diagnosis.h>

// Judges a server by its description of itself. Pure.
namespace holdfast::engines::redis::internal {

// The lines `key:value` of INFO.
using Info = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] Info parse_info(std::string_view text);

// Version, eviction, persistence, replication, cluster.
[[nodiscard]] std::vector<Finding> judge(const Info& info);

}  // namespace holdfast::engines::redis::internal
