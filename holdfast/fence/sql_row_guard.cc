#include <holdfast/fence/sql_row_guard.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/fence/internal/sql.h>
#include <holdfast/fence/internal/sql_text.h>

namespace holdfast::fence {

using base::ErrorCode;
using base::fail;
using base::Result;
using internal::fill;
using internal::parameter;

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// SQLite treats names that differ only in case as equal, even in quotes.
bool same_name(SqlDialect dialect, std::string_view a, std::string_view b) {
  return dialect == SqlDialect::sqlite ? std::ranges::equal(a, b, {}, lower, lower) : a == b;
}

// Adds the quoted names to `quoted`; fails if a name occurs twice.
Result<void> add_quoted(SqlDialect dialect, std::span<const std::string> names,
                        std::vector<QuotedName>& quoted) {
  for (const std::string& name : names) {
    HOLDFAST_TRY_LET(auto text, quote_identifier(dialect, name));
    if (std::ranges::any_of(quoted, [&](const QuotedName& other) {
          return same_name(dialect, other.text(), text.text());
        })) {
      return fail(ErrorCode::invalid_argument,
                  "the column '" + base::printable(name) +
                      "' is named twice: as a key, as the fence or as a column to write");
    }
    quoted.push_back(std::move(text));
  }
  return {};
}

std::string join(std::span<const QuotedName> names) {
  std::string joined;
  for (const QuotedName& name : names) {
    joined.append(joined.empty() ? "" : ", ").append(name.text());
  }
  return joined;
}

}  // namespace

Result<SqlRowGuard> SqlRowGuard::make(SqlDialect dialect, const FencedRows& rows) {
  HOLDFAST_TRY_LET(auto table, internal::quote_table(dialect, rows.schema, rows.table));
  if (rows.keys.empty()) {
    return fail(ErrorCode::invalid_argument, "FencedRows: say which columns are the keys of a row");
  }
  std::vector<QuotedName> quoted;
  HOLDFAST_TRY(add_quoted(dialect, {&rows.fence, 1}, quoted));
  HOLDFAST_TRY(add_quoted(dialect, rows.keys, quoted));
  QuotedName fence = std::move(quoted.front());
  quoted.erase(quoted.begin());
  return SqlRowGuard(
      dialect, {.table = std::move(table), .keys = std::move(quoted), .fence = std::move(fence)});
}

SqlRowGuard::SqlRowGuard(SqlDialect dialect, Names names)
    : dialect_(dialect),
      names_(std::move(names)),
      add_fence_(fill(dialect, internal::sql::kAddFence,
                      {{"table", names_.table.text()}, {"fence", names_.fence.text()}})),
      newest_(fill(dialect, internal::sql::kNewestOfRow,
                   {{"table", names_.table.text()},
                    {"fence", names_.fence.text()},
                    {"matches", matches(1)}})) {}

Result<std::string> SqlRowGuard::update(std::span<const std::string> columns) const {
  HOLDFAST_TRY_LET(const auto quoted, quote(columns));
  std::string assignments;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    assignments += quoted[i].text() + " = " + parameter(dialect_, i + 1) + ", ";
  }
  const std::size_t keys_from = quoted.size() + 1;
  return fill(dialect_, internal::sql::kUpdate,
              {{"table", names_.table.text()},
               {"fence", names_.fence.text()},
               {"assignments", assignments},
               {"matches", matches(keys_from)},
               {"token", parameter(dialect_, keys_from + names_.keys.size())}});
}

Result<std::string> SqlRowGuard::upsert(std::span<const std::string> columns) const {
  HOLDFAST_TRY_LET(auto quoted, quote(columns));
  std::string copies;
  for (const QuotedName& column : quoted) {
    copies += column.text() + " = excluded." + column.text() + ", ";
  }
  quoted.insert(quoted.end(), names_.keys.begin(), names_.keys.end());
  std::string values;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    values.append(i == 0 ? "" : ", ").append(parameter(dialect_, i + 1));
  }
  return fill(dialect_, internal::sql::kUpsert,
              {{"table", names_.table.text()},
               {"fence", names_.fence.text()},
               {"columns", join(quoted)},
               {"values", values},
               {"keys", join(names_.keys)},
               {"copies", copies},
               {"token", parameter(dialect_, quoted.size() + 1)}});
}

Result<std::vector<QuotedName>> SqlRowGuard::quote(std::span<const std::string> columns) const {
  std::vector<QuotedName> all = names_.keys;
  all.push_back(names_.fence);
  const auto taken = static_cast<std::ptrdiff_t>(all.size());
  HOLDFAST_TRY(add_quoted(dialect_, columns, all));
  all.erase(all.begin(), all.begin() + taken);
  return all;
}

std::string SqlRowGuard::matches(std::size_t first) const {
  // Qualified with the table: SQLite would treat an unknown column alone as text.
  std::string text;
  for (std::size_t i = 0; i < names_.keys.size(); ++i) {
    text += (i == 0 ? "t." : " AND t.") + names_.keys[i].text() + " = " +
            parameter(dialect_, first + i);
  }
  return text;
}

}  // namespace holdfast::fence
