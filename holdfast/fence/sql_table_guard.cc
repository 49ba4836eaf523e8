#include <holdfast/fence/sql_table_guard.h>

#include <holdfast/fence/internal/sql.h>
#include <holdfast/fence/internal/sql_text.h>

namespace holdfast::fence {

using internal::fill;

base::Result<SqlTableGuard> SqlTableGuard::make(SqlDialect dialect, const FenceTable& table) {
  const auto quoted = internal::quote_table(dialect, table.schema, table.table);
  if (!quoted) {
    return std::unexpected(quoted.error());
  }
  return SqlTableGuard(dialect, *quoted);
}

SqlTableGuard::SqlTableGuard(SqlDialect dialect, const std::string& quoted_table)
    : create_(fill(dialect, internal::sql::kCreate, {{"table", quoted_table}})),
      check_(fill(dialect, internal::sql::kCheck, {{"table", quoted_table}})),
      newest_(fill(dialect, internal::sql::kNewest, {{"table", quoted_table}})) {}

}  // namespace holdfast::fence
