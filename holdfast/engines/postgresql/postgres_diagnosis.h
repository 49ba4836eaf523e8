#pragma once

#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/engines/postgresql/postgres_options.h>
#include <holdfast/store/finding.h>

namespace holdfast::engines::postgresql {

using store::Finding;

// Asks a server for its version, its settings and its clock, on a connection of its own, and finds
// out whether a pooler is in between. A server that does not answer is ErrorCode::unavailable.
[[nodiscard]] base::Result<std::vector<Finding>> diagnose(const PostgresOptions& options);

}  // namespace holdfast::engines::postgresql
