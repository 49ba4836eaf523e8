#include <holdfast/fence/sql_dialect.h>

#include <type_traits>

#include <gtest/gtest.h>

namespace holdfast::fence {
namespace {

using base::ErrorCode;

std::string quoted(SqlDialect dialect, std::string_view name) {
  return base::value_or_throw(quote_identifier(dialect, name)).text();
}

// An unquoted name cannot get into a statement.
static_assert(!std::is_constructible_v<QuotedName, std::string>);
static_assert(!std::is_constructible_v<QuotedName, const char*>);
static_assert(!std::is_default_constructible_v<QuotedName>);

TEST(SqlIdentifier, IsQuotedWithAnyCharacters) {
  for (const SqlDialect dialect : {SqlDialect::sqlite, SqlDialect::postgresql}) {
    EXPECT_EQ(quoted(dialect, "accounts"), "\"accounts\"");
    EXPECT_EQ(quoted(dialect, "Select from"), "\"Select from\"");
    EXPECT_EQ(quoted(dialect, "a\"b"), "\"a\"\"b\"");
    EXPECT_EQ(quoted(dialect, "x\"; DROP TABLE y; --"), "\"x\"\"; DROP TABLE y; --\"");
    EXPECT_EQ(quoted(dialect, "'`[]\\\n"), "\"'`[]\\\n\"");
  }
}

TEST(SqlIdentifier, ANameThatADatabaseCannotHaveIsATypedError) {
  for (const SqlDialect dialect : {SqlDialect::sqlite, SqlDialect::postgresql}) {
    for (const std::string& name : {std::string(), std::string("a\0b", 3)}) {
      const auto refused = quote_identifier(dialect, name);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    }
  }
  EXPECT_TRUE(quote_identifier(SqlDialect::postgresql, std::string(63, 'x')));
  EXPECT_FALSE(quote_identifier(SqlDialect::postgresql, std::string(64, 'x')));
  EXPECT_TRUE(quote_identifier(SqlDialect::sqlite, std::string(64, 'x')));
}

}  // namespace
}  // namespace holdfast::fence
