#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/base/error.h>
#include <holdfast/fence/sql_dialect.h>

namespace holdfast::fence::internal {

using SqlPart = std::pair<std::string_view, std::string_view>;

// Fills a statement of sql/: replaces each {name} with its part, and writes parameters in the
// dialect's form. Scans the text once, so that nothing in a part is taken for a name or a
// parameter.
[[nodiscard]] std::string fill(SqlDialect dialect, std::string_view text,
                               std::initializer_list<SqlPart> parts);

// Returns the parameter of this number, from 1.
[[nodiscard]] std::string parameter(SqlDialect dialect, std::size_t number);

// Returns "schema"."table", or "table" if the schema is empty.
[[nodiscard]] base::Result<QuotedName> quote_table(SqlDialect dialect, std::string_view schema,
                                                   std::string_view table);

}  // namespace holdfast::fence::internal
