#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/base/error.h>

namespace holdfast::fence {

// Whose SQL: what parameters and names look like. SQLite from 3.24, PostgreSQL from 9.5.
enum class SqlDialect : std::uint8_t {
  sqlite,      // ?1, ?2
  postgresql,  // $1, $2
};

// A table's or a column's name as it stands in a statement, whatever characters it has: in quotes.
// Only quote_identifier makes one, so that no other text is taken for it.
class QuotedName {
 public:
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // "schema"."table".
  [[nodiscard]] QuotedName within(const QuotedName& schema) const {
    return QuotedName(schema.text_ + "." + text_);
  }

 private:
  friend base::Result<QuotedName> quote_identifier(SqlDialect dialect, std::string_view name);
  explicit QuotedName(std::string text) noexcept : text_(std::move(text)) {}

  std::string text_;
};

// invalid_argument where the database could not have such a name, or would cut it silently: an
// empty one, one with a NUL byte, and on PostgreSQL one of more than 63 bytes.
[[nodiscard]] base::Result<QuotedName> quote_identifier(SqlDialect dialect, std::string_view name);

}  // namespace holdfast::fence
