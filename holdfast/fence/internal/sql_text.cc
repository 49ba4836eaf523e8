#include <holdfast/fence/internal/sql_text.h>

#include <algorithm>

namespace holdfast::fence::internal {

using base::Result;

std::string fill(SqlDialect dialect, std::string_view text, std::initializer_list<SqlPart> parts) {
  const std::size_t end = text.find_last_not_of('\n') + 1;
  std::string filled;
  for (std::size_t at = 0; at < end; ++at) {
    if (text[at] == '{') {
      const std::size_t close = text.find('}', at);
      const std::string_view name = text.substr(at + 1, close - at - 1);
      filled += std::ranges::find(parts, name, &SqlPart::first)->second;
      at = close;
    } else if (text[at] == '?' && dialect == SqlDialect::postgresql) {
      filled += '$';
    } else {
      filled += text[at];
    }
  }
  return filled;
}

std::string parameter(SqlDialect dialect, std::size_t number) {
  return (dialect == SqlDialect::postgresql ? "$" : "?") + std::to_string(number);
}

Result<std::string> quote_table(SqlDialect dialect, std::string_view schema,
                                std::string_view table) {
  auto quoted = quote_identifier(dialect, table);
  if (!quoted || schema.empty()) {
    return quoted;
  }
  const auto in = quote_identifier(dialect, schema);
  return in ? *in + '.' + *quoted : in;
}

}  // namespace holdfast::fence::internal
