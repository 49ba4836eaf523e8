#pragma once

#include <string>

#include <holdfast/base/error.h>
#include <holdfast/engines/postgresql/postgres_options.h>

namespace holdfast::engines::postgresql {

// Returns the statements that make the schema, for an administrator who runs them in the place of
// programs that may not. They leave what is there already, and change nothing that a newer Holdfast
// has made. Run them in one transaction.
[[nodiscard]] base::Result<std::string> schema_sql(const PostgresOptions& options);

}  // namespace holdfast::engines::postgresql
