#include <holdfast/fence/sql_table_guard.h>

#include <holdfast/base/try.h>
#include <holdfast/fence/internal/sql.h>
#include <holdfast/fence/internal/sql_text.h>

namespace holdfast::fence {

using internal::fill;

base::Result<SqlTableGuard> SqlTableGuard::make(SqlDialect dialect, const FenceTable& table) {
  HOLDFAST_TRY_LET(const auto quoted, internal::quote_table(dialect, table.schema, table.table));
  return SqlTableGuard(dialect, quoted);
}

SqlTableGuard::SqlTableGuard(SqlDialect dialect, const QuotedName& table)
    : create_(fill(dialect, internal::sql::kCreate, {{"table", table.text()}})),
      check_(fill(dialect, internal::sql::kCheck, {{"table", table.text()}})),
      newest_(fill(dialect, internal::sql::kNewest, {{"table", table.text()}})) {}

}  // namespace holdfast::fence
