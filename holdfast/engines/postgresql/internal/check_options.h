#pragma once

#include <holdfast/base/error.h>
#include <holdfast/engines/postgresql/postgres_options.h>

namespace holdfast::engines::postgresql::internal {

// Returns ErrorCode::invalid_argument for invalid options.
[[nodiscard]] base::Result<void> check_options(const PostgresOptions& options);

}  // namespace holdfast::engines::postgresql::internal
