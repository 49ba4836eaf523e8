#pragma once

#include <string>

#include "apps/holdfast/doctor/check.h"

namespace holdfast::cli {

// Checks whether the settings of the server at this URL leave the promises whole.
[[nodiscard]] Checks check_mongodb(const std::string& url);
[[nodiscard]] Checks check_postgresql(const std::string& url);
[[nodiscard]] Checks check_redis(const std::string& url);

}  // namespace holdfast::cli
