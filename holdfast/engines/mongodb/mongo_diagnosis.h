#pragma once

#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/engines/mongodb/mongo_options.h>
#include <holdfast/store/finding.h>

namespace holdfast::engines::mongodb {

using store::Finding;

// Asks a server for its version, its kind, its index and its clock, on a connection of its own.
// A server that does not answer is ErrorCode::unavailable.
[[nodiscard]] base::Result<std::vector<Finding>> diagnose(const MongoOptions& options);

}  // namespace holdfast::engines::mongodb
