#include <holdfast/fence/sql_row_guard.h>

#include <gtest/gtest.h>

namespace holdfast::fence {
namespace {

using base::ErrorCode;
using Columns = std::vector<std::string>;

const FencedRows kAccounts{.table = "accounts", .keys = {"id"}};

TEST(SqlRowGuard, WritesOnlyIfTheFenceIsNoNewer) {
  const auto sqlite = SqlRowGuard::make(SqlDialect::sqlite, kAccounts);
  ASSERT_TRUE(sqlite);
  EXPECT_EQ(sqlite->update(Columns{"balance", "note"}),
            "UPDATE \"accounts\" AS t SET \"balance\" = ?1, \"note\" = ?2, \"fence\" = ?4\n"
            "WHERE t.\"id\" = ?3 AND t.\"fence\" <= ?4;");
  const auto postgresql = SqlRowGuard::make(SqlDialect::postgresql, kAccounts);
  EXPECT_EQ(postgresql->update(Columns{"balance"}),
            "UPDATE \"accounts\" AS t SET \"balance\" = $1, \"fence\" = $3\n"
            "WHERE t.\"id\" = $2 AND t.\"fence\" <= $3;");
  EXPECT_EQ(postgresql->upsert(Columns{"balance"}),
            "INSERT INTO \"accounts\" AS t (\"balance\", \"id\", \"fence\") VALUES ($1, $2, $3)\n"
            "ON CONFLICT (\"id\") DO UPDATE SET \"balance\" = excluded.\"balance\", "
            "\"fence\" = excluded.\"fence\"\n"
            "WHERE t.\"fence\" <= excluded.\"fence\";");
}

TEST(SqlRowGuard, SupportsSchemasAndSeveralKeys) {
  const auto guard = SqlRowGuard::make(
      SqlDialect::postgresql,
      {.schema = "bank", .table = "accounts", .keys = {"branch", "id"}, .fence = "token"});
  ASSERT_TRUE(guard);
  EXPECT_EQ(guard->add_fence(),
            "ALTER TABLE \"bank\".\"accounts\" ADD COLUMN \"token\" BIGINT NOT NULL DEFAULT 0;");
  EXPECT_EQ(guard->update({}),
            "UPDATE \"bank\".\"accounts\" AS t SET \"token\" = $3\n"
            "WHERE t.\"branch\" = $1 AND t.\"id\" = $2 AND t.\"token\" <= $3;");
  EXPECT_EQ(guard->newest(),
            "SELECT t.\"token\" FROM \"bank\".\"accounts\" AS t WHERE t.\"branch\" = $1 AND "
            "t.\"id\" = $2;");
}

TEST(SqlRowGuard, NoPartOfANameBecomesPartOfAStatement) {
  const auto guard = SqlRowGuard::make(SqlDialect::postgresql,
                                       {.table = "{fence}", .keys = {"?1"}, .fence = "{token}"});
  ASSERT_TRUE(guard);
  EXPECT_EQ(guard->update(Columns{"{matches}"}),
            "UPDATE \"{fence}\" AS t SET \"{matches}\" = $1, \"{token}\" = $3\n"
            "WHERE t.\"?1\" = $2 AND t.\"{token}\" <= $3;");
}

TEST(SqlRowGuard, WrongNamesAreTypedErrors) {
  const auto code = [](SqlDialect dialect, const FencedRows& rows) {
    const auto guard = SqlRowGuard::make(dialect, rows);
    return guard ? ErrorCode::internal : guard.error().code;
  };
  using enum SqlDialect;
  EXPECT_EQ(code(sqlite, {.table = "", .keys = {"id"}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(sqlite, {.table = "t", .keys = {}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(sqlite, {.table = "t", .keys = {""}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(sqlite, {.table = "t", .keys = {"id"}, .fence = ""}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(sqlite, {.table = "t", .keys = {"id", "ID"}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(sqlite, {.table = "t", .keys = {"fence"}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(postgresql, {.schema = std::string(64, 's'), .table = "t", .keys = {"id"}}),
            ErrorCode::invalid_argument);
  EXPECT_TRUE(SqlRowGuard::make(postgresql, {.table = "t", .keys = {"id", "ID"}}));
}

TEST(SqlRowGuard, AColumnCannotBeWrittenTwice) {
  const auto guard = SqlRowGuard::make(SqlDialect::sqlite, kAccounts);
  ASSERT_TRUE(guard);
  for (const Columns& columns : {Columns{"a", "a"}, Columns{"a", "A"}, Columns{"id"},
                                 Columns{"fence"}, Columns{"Fence"}, Columns{"a", ""}}) {
    EXPECT_FALSE(guard->update(columns));
    const auto upsert = guard->upsert(columns);
    ASSERT_FALSE(upsert);
    EXPECT_EQ(upsert.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace holdfast::fence
