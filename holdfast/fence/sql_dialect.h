#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/base/error.h>

namespace holdfast::fence {

// The SQL dialect: how parameters and names are written. SQLite from 3.24, PostgreSQL from 9.5.
enum class SqlDialect : std::uint8_t {
  sqlite,      // ?1, ?2
  postgresql,  // $1, $2
};

// A quoted table or column name, ready for a statement, with any characters. Only quote_identifier
// makes one, so that no other text can be used as a name.
class QuotedName {
 public:
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // Returns "schema"."table".
  [[nodiscard]] QuotedName within(const QuotedName& schema) const {
    return QuotedName(schema.text_ + "." + text_);
  }

 private:
  friend base::Result<QuotedName> quote_identifier(SqlDialect dialect, std::string_view name);
  explicit QuotedName(std::string text) noexcept : text_(std::move(text)) {}

  std::string text_;
};

// Quotes a name; invalid_argument if the database cannot have such a name, or would truncate it
// silently: an empty one, one with a NUL byte, and on PostgreSQL one of more than 63 bytes.
[[nodiscard]] base::Result<QuotedName> quote_identifier(SqlDialect dialect, std::string_view name);

}  // namespace holdfast::fence
