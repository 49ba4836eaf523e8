#pragma once

#include <holdfast/base/error.h>
#include <holdfast/engines/mongodb/mongo_options.h>

namespace holdfast::engines::mongodb::internal {

// Every combination that cannot be is ErrorCode::invalid_argument, and named.
[[nodiscard]] base::Result<void> check_options(const MongoOptions& options);

}  // namespace holdfast::engines::mongodb::internal
