#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>
#include <tests/fence/sqlite_client.h>
#include <tests/support/postgres_client.h>
#include <tests/support/postgres_server.h>

#include <holdfast/fence/sql_row_guard.h>
#include <holdfast/fence/sql_table_guard.h>

namespace holdfast::tests {
namespace {

using fence::SqlDialect;
using fence::SqlRowGuard;
using fence::SqlTableGuard;
using Columns = std::vector<std::string>;

constexpr const char* kWeirdTable = R"(we"ird {table} ?1 $1 '--)";
constexpr const char* kWeirdKey = R"({fence} "key" ?2)";
constexpr const char* kWeirdValue = "select";
constexpr const char* kWeirdFence = R"(Fence; DROP TABLE x)";

// Both databases take names of any characters, and make and guard rows.
template <class Client>
void use_weird_names(SqlDialect dialect, Client& client) {
  const auto quoted = [dialect](const char* name) {
    return base::value_or_throw(fence::quote_identifier(dialect, name));
  };
  client.change("CREATE TABLE " + quoted(kWeirdTable) + " (" + quoted(kWeirdKey) +
                " TEXT PRIMARY KEY, " + quoted(kWeirdValue) + " TEXT)");
  const auto guard = base::value_or_throw(SqlRowGuard::make(
      dialect, {.table = kWeirdTable, .keys = {kWeirdKey}, .fence = kWeirdFence}));
  client.change(guard.add_fence());
  const std::string upsert = base::value_or_throw(guard.upsert(Columns{kWeirdValue}));
  const std::string update = base::value_or_throw(guard.update(Columns{kWeirdValue}));
  const std::string touch = base::value_or_throw(guard.update({}));
  const auto value = [&] {
    return client.ask("SELECT " + quoted(kWeirdValue) + " FROM " + quoted(kWeirdTable));
  };

  EXPECT_EQ(client.change(update, {"none", "anna", "7"}), 0) << "there is no row yet";
  EXPECT_EQ(client.ask(guard.newest(), {"anna"}), "");
  EXPECT_EQ(client.change(upsert, {"seven", "anna", "7"}), 1);
  EXPECT_EQ(client.change(upsert, {"six", "anna", "6"}), 0);
  EXPECT_EQ(client.change(update, {"six", "anna", "6"}), 0);
  EXPECT_EQ(value(), "seven");
  EXPECT_EQ(client.ask(guard.newest(), {"anna"}), "7");
  EXPECT_EQ(client.change(upsert, {"eight", "anna", "8"}), 1);
  EXPECT_EQ(client.change(touch, {"anna", "9"}), 1);
  EXPECT_EQ(client.change(update, {"eight again", "anna", "8"}), 0);
  EXPECT_EQ(value(), "eight");
}

TEST(SqliteStatements, TakeNamesOfAnyCharacters) {
  SqliteClient client(":memory:");
  use_weird_names(SqlDialect::sqlite, client);
}

// To SQLite a quoted name that is no column may be a text, and "id" = 'id' every row.
TEST(SqliteStatements, AColumnThatIsNotThereIsAnError) {
  SqliteClient client(":memory:");
  client.change("CREATE TABLE t (key TEXT PRIMARY KEY, value TEXT, fence BIGINT NOT NULL)");
  client.change("INSERT INTO t VALUES ('a', 'untouched', 0)");
  for (const fence::FencedRows& rows :
       {fence::FencedRows{.table = "t", .keys = {"id"}},
        fence::FencedRows{.table = "t", .keys = {"key"}, .fence = "token"}}) {
    const auto guard = base::value_or_throw(SqlRowGuard::make(SqlDialect::sqlite, rows));
    const std::string update = base::value_or_throw(guard.update(Columns{"value"}));
    EXPECT_THROW(client.change(update, {"new", rows.keys.front(), "7"}), std::runtime_error);
    EXPECT_THROW(client.ask(guard.newest(), {"a"}), std::runtime_error);
  }
  EXPECT_EQ(client.ask("SELECT value FROM t"), "untouched");
}

TEST(SqliteStatements, AFenceThatIsNullIsPassedByNobody) {
  SqliteClient client(":memory:");
  client.change("CREATE TABLE t (id TEXT PRIMARY KEY, value TEXT, fence BIGINT)");
  client.change("INSERT INTO t VALUES ('a', 'untouched', NULL)");
  const auto guard =
      base::value_or_throw(SqlRowGuard::make(SqlDialect::sqlite, {.table = "t", .keys = {"id"}}));
  EXPECT_EQ(client.change(*guard.update(Columns{"value"}), {"new", "a", "7"}), 0);
}

class PostgresqlStatements : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<PostgresServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

  PostgresqlStatements() {
    first.change("DROP TABLE IF EXISTS holdfast_fences");
    first.change(guard.create());
  }

  static PostgresClient connect() { return PostgresClient(server_->conninfo()); }
  int check(PostgresClient& client, const char* token) const {
    return client.change(guard.check(), {"resource", token});
  }
  // Until the server says that the client waits for another's transaction, which it does unless it
  // is done.
  void await_lock_wait(const PostgresClient& client, const std::future<int>& done) {
    PostgresClient observer = connect();
    while (done.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready &&
           observer.ask("SELECT wait_event_type FROM pg_stat_activity WHERE pid = $1",
                        {std::to_string(client.backend())}) != "Lock") {
    }
  }

  static inline std::unique_ptr<PostgresServer> server_;
  const SqlTableGuard guard = base::value_or_throw(SqlTableGuard::make(SqlDialect::postgresql, {}));
  PostgresClient first = connect();
  PostgresClient second = connect();
};

TEST_F(PostgresqlStatements, TakeNamesOfAnyCharacters) {
  use_weird_names(SqlDialect::postgresql, first);
}

TEST_F(PostgresqlStatements, KnowSchemas) {
  first.change("CREATE SCHEMA \"My Schema\"");
  const auto in_schema = base::value_or_throw(
      SqlTableGuard::make(SqlDialect::postgresql, {.schema = "My Schema", .table = "Fences"}));
  first.change(in_schema.create());
  EXPECT_EQ(first.change(in_schema.check(), {"resource", "7"}), 1);
  EXPECT_EQ(first.change(in_schema.check(), {"resource", "6"}), 0);
  EXPECT_EQ(first.ask(in_schema.newest(), {"resource"}), "7");
  EXPECT_EQ(first.ask(in_schema.newest(), {"another"}), "");
}

TEST_F(PostgresqlStatements, ANewerOneWaitsForTheTransactionOfAnOlderOne) {
  first.change("BEGIN");
  EXPECT_EQ(check(first, "6"), 1);
  auto newer = std::async(std::launch::async, [&] { return check(second, "7"); });
  await_lock_wait(second, newer);
  EXPECT_NE(newer.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  first.change("COMMIT");
  EXPECT_EQ(newer.get(), 1);
  EXPECT_EQ(check(first, "6"), 0);
}

TEST_F(PostgresqlStatements, AnOlderOneThatWaitedIsRefused) {
  EXPECT_EQ(check(first, "5"), 1);
  first.change("BEGIN");
  EXPECT_EQ(check(first, "7"), 1);
  auto older = std::async(std::launch::async, [&] { return check(second, "6"); });
  await_lock_wait(second, older);
  first.change("COMMIT");
  EXPECT_EQ(older.get(), 0);
}

TEST_F(PostgresqlStatements, AnOlderOneIsAcceptedIfTheNewerOneRolledBack) {
  first.change("BEGIN");
  EXPECT_EQ(check(first, "7"), 1);
  auto older = std::async(std::launch::async, [&] { return check(second, "6"); });
  await_lock_wait(second, older);
  first.change("ROLLBACK");
  EXPECT_EQ(older.get(), 1);
  EXPECT_EQ(first.ask(guard.newest(), {"resource"}), "6");
}

TEST_F(PostgresqlStatements, WithASnapshotFromBeforeNobodyPassesUnseen) {
  EXPECT_EQ(check(first, "5"), 1);
  second.change("BEGIN ISOLATION LEVEL REPEATABLE READ");
  EXPECT_EQ(second.ask(guard.newest(), {"resource"}), "5");
  EXPECT_EQ(check(first, "7"), 1);
  EXPECT_THROW(check(second, "6"), std::runtime_error);
  second.change("ROLLBACK");
  EXPECT_EQ(first.ask(guard.newest(), {"resource"}), "7");
}

}  // namespace
}  // namespace holdfast::tests
