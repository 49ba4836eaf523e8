#include <holdfast/fence/sql_dialect.h>

#include <holdfast/base/printable.h>

namespace holdfast::fence {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// NAMEDATALEN - 1: a longer name is truncated, and may then be another table's name.
constexpr std::size_t kPostgresqlLimit = 63;

}  // namespace

Result<QuotedName> quote_identifier(SqlDialect dialect, std::string_view name) {
  if (name.empty()) {
    return fail(ErrorCode::invalid_argument, "the name of a table or column is empty");
  }
  if (name.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::invalid_argument,
                "the name '" + base::printable(name) + "' of a table or column has a NUL byte");
  }
  if (dialect == SqlDialect::postgresql && name.size() > kPostgresqlLimit) {
    return fail(ErrorCode::invalid_argument,
                "the name '" + base::printable(name) + "' of a table or column has " +
                    std::to_string(name.size()) + " bytes, PostgreSQL keeps 63: shorten it");
  }
  std::string quoted = "\"";
  for (const char c : name) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  quoted += '"';
  return QuotedName(std::move(quoted));
}

}  // namespace holdfast::fence
