#pragma once

#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/sqlite_options.h>

namespace holdfast::engines::sqlite::internal {

// ErrorCode::invalid_argument if one of them cannot be.
[[nodiscard]] base::Result<void> check_options(const SqliteOptions& options);

}  // namespace holdfast::engines::sqlite::internal
