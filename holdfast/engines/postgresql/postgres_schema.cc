#include <holdfast/engines/postgresql/postgres_schema.h>

#include <holdfast/base/try.h>
#include <holdfast/engines/postgresql/internal/check_options.h>
#include <holdfast/engines/postgresql/internal/schema.h>

namespace holdfast::engines::postgresql {

base::Result<std::string> schema_sql(const PostgresOptions& options) {
  HOLDFAST_TRY(internal::check_options(options));
  return "BEGIN;\n" + internal::Schema(options).creation() + "COMMIT;\n";
}

}  // namespace holdfast::engines::postgresql
