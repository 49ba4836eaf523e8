#include <holdfast/fence/sql_dialect.h>

#include <gtest/gtest.h>

namespace holdfast::fence {
namespace {

using base::ErrorCode;
using base::FencingToken;

TEST(SqlIdentifier, IsQuotedWhateverItHas) {
  for (const SqlDialect dialect : {SqlDialect::sqlite, SqlDialect::postgresql}) {
    EXPECT_EQ(quote_identifier(dialect, "accounts"), "\"accounts\"");
    EXPECT_EQ(quote_identifier(dialect, "Select from"), "\"Select from\"");
    EXPECT_EQ(quote_identifier(dialect, "a\"b"), "\"a\"\"b\"");
    EXPECT_EQ(quote_identifier(dialect, "x\"; DROP TABLE y; --"), "\"x\"\"; DROP TABLE y; --\"");
    EXPECT_EQ(quote_identifier(dialect, "'`[]\\\n"), "\"'`[]\\\n\"");
  }
}

TEST(SqlIdentifier, WhatADatabaseCannotHaveIsATypedError) {
  for (const SqlDialect dialect : {SqlDialect::sqlite, SqlDialect::postgresql}) {
    for (const std::string& name : {std::string(), std::string("a\0b", 3)}) {
      const auto quoted = quote_identifier(dialect, name);
      ASSERT_FALSE(quoted);
      EXPECT_EQ(quoted.error().code, ErrorCode::invalid_argument);
    }
  }
  EXPECT_TRUE(quote_identifier(SqlDialect::postgresql, std::string(63, 'x')));
  EXPECT_FALSE(quote_identifier(SqlDialect::postgresql, std::string(64, 'x')));
  EXPECT_TRUE(quote_identifier(SqlDialect::sqlite, std::string(64, 'x')));
}

TEST(SqlToken, FitsInto63BitsOrIsATypedError) {
  EXPECT_EQ(to_bigint(FencingToken{0}), 0);
  EXPECT_EQ(to_bigint(FencingToken{INT64_MAX}), INT64_MAX);
  const auto too_great = to_bigint(FencingToken{std::uint64_t{INT64_MAX} + 1});
  ASSERT_FALSE(too_great);
  EXPECT_EQ(too_great.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::fence
