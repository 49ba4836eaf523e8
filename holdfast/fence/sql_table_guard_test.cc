#include <holdfast/fence/sql_table_guard.h>

#include <gtest/gtest.h>

namespace holdfast::fence {
namespace {

TEST(SqlTableGuard, KeepsTheNewestTokenByResource) {
  const auto guard = SqlTableGuard::make(SqlDialect::postgresql, {.schema = "app"});
  ASSERT_TRUE(guard);
  EXPECT_TRUE(
      guard->create().starts_with("CREATE TABLE IF NOT EXISTS \"app\".\"holdfast_fences\" ("));
  EXPECT_EQ(guard->check(),
            "INSERT INTO \"app\".\"holdfast_fences\" AS t (resource, fence) VALUES ($1, $2)\n"
            "ON CONFLICT (resource) DO UPDATE SET fence = excluded.fence "
            "WHERE t.fence <= excluded.fence;");
  EXPECT_EQ(guard->newest(), "SELECT fence FROM \"app\".\"holdfast_fences\" WHERE resource = $1;");
  EXPECT_NE(SqlTableGuard::make(SqlDialect::sqlite, {})->check().find("(?1, ?2)"),
            std::string::npos);
}

TEST(SqlTableGuard, AWrongNameIsATypedError) {
  const auto guard = SqlTableGuard::make(SqlDialect::sqlite, {.table = ""});
  ASSERT_FALSE(guard);
  EXPECT_EQ(guard.error().code, base::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::fence
