#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <tests/fence/guarded_resource.h>
#include <tests/fence/sqlite_client.h>
#include <tests/support/postgres_client.h>
#include <tests/support/postgres_server.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/fence/bigint.h>
#include <holdfast/fence/sql_row_guard.h>
#include <holdfast/fence/sql_table_guard.h>

namespace holdfast::tests {

namespace {

using base::FencingToken;
using fence::SqlDialect;
using fence::SqlRowGuard;
using fence::SqlTableGuard;

// The differences of the two databases.
class Sqlite {
 public:
  using Client = SqliteClient;
  static constexpr SqlDialect kDialect = SqlDialect::sqlite;
  static constexpr const char* kBegin = "BEGIN IMMEDIATE";
  [[nodiscard]] Client client() const { return Client(folder_ / "resource.db"); }
  void restart() {}

 private:
  TemporaryFolder folder_;
};

// A database of its own on the server that all tests of this process share.
class Postgresql {
 public:
  using Client = PostgresClient;
  static constexpr SqlDialect kDialect = SqlDialect::postgresql;
  static constexpr const char* kBegin = "BEGIN";
  Postgresql() { Client(server().conninfo()).change("CREATE DATABASE " + database_); }
  [[nodiscard]] Client client() const { return Client(server().conninfo(database_)); }
  void restart() { server().restart(); }

 private:
  static PostgresServer& server() {
    static PostgresServer shared;
    return shared;
  }
  static std::string fresh_database() {
    static int databases = 0;
    return "resource" + std::to_string(++databases);
  }

  const std::string database_ = fresh_database();
};

// None if the token cannot be one: there is nothing to ask the database then.
std::optional<std::string> parameter(FencingToken token) {
  const auto number = fence::to_bigint(token);
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

// The fence is in the row that it guards.
template <class Database>
class RowWriter : public Writer {
 public:
  RowWriter(typename Database::Client client, std::string update)
      : client_(std::move(client)), update_(std::move(update)) {}
  bool write(FencingToken token, const std::string& value) override {
    const auto number = parameter(token);
    return number && client_.change(update_, {value, "resource", *number}) == 1;
  }

 private:
  typename Database::Client client_;
  const std::string update_;
};

template <class Database>
class RowsResource : public GuardedResource {
 public:
  RowsResource() {
    auto client = database_.client();
    client.change("CREATE TABLE accounts (id TEXT PRIMARY KEY, value TEXT)");
    client.change("INSERT INTO accounts VALUES ('resource', ''), ('another', 'untouched')");
    client.change(guard_.add_fence());
  }
  std::unique_ptr<Writer> writer() override {
    return std::make_unique<RowWriter<Database>>(
        database_.client(), base::value_or_throw(guard_.update(std::vector<std::string>{"value"})));
  }
  std::string read() override {
    auto client = database_.client();
    if (client.ask("SELECT value FROM accounts WHERE id = 'another'") != "untouched") {
      throw std::runtime_error("another row was changed");
    }
    return client.ask("SELECT value FROM accounts WHERE id = 'resource'");
  }
  void restart() override { database_.restart(); }

 private:
  Database database_;
  const SqlRowGuard guard_ = base::value_or_throw(
      SqlRowGuard::make(Database::kDialect, {.table = "accounts", .keys = {"id"}}));
};

// The fence is in a table beside, and guards the transaction.
template <class Database>
class TransactionWriter : public Writer {
 public:
  TransactionWriter(typename Database::Client client, std::string check)
      : client_(std::move(client)), check_(std::move(check)) {}
  bool write(FencingToken token, const std::string& value) override {
    const auto number = parameter(token);
    if (!number) {
      return false;
    }
    client_.change(Database::kBegin);
    if (client_.change(check_, {"resource", *number}) == 0) {
      client_.change("ROLLBACK");
      return false;
    }
    client_.change("DELETE FROM resources");
    client_.change(Database::kDialect == SqlDialect::sqlite ? "INSERT INTO resources VALUES (?1)"
                                                            : "INSERT INTO resources VALUES ($1)",
                   {value});
    client_.change("COMMIT");
    return true;
  }

 private:
  typename Database::Client client_;
  const std::string check_;
};

template <class Database>
class TableResource : public GuardedResource {
 public:
  TableResource() {
    auto client = database_.client();
    client.change("CREATE TABLE resources (value TEXT)");
    client.change(guard_.create());
    client.change(guard_.create());
  }
  std::unique_ptr<Writer> writer() override {
    return std::make_unique<TransactionWriter<Database>>(database_.client(), guard_.check());
  }
  std::string read() override { return database_.client().ask("SELECT value FROM resources"); }
  void restart() override { database_.restart(); }

 private:
  Database database_;
  const SqlTableGuard guard_ = base::value_or_throw(SqlTableGuard::make(Database::kDialect, {}));
};

}  // namespace

std::unique_ptr<GuardedResource> make_sqlite_rows_resource() {
  return std::make_unique<RowsResource<Sqlite>>();
}
std::unique_ptr<GuardedResource> make_sqlite_table_resource() {
  return std::make_unique<TableResource<Sqlite>>();
}
std::unique_ptr<GuardedResource> make_postgresql_rows_resource() {
  return std::make_unique<RowsResource<Postgresql>>();
}
std::unique_ptr<GuardedResource> make_postgresql_table_resource() {
  return std::make_unique<TableResource<Postgresql>>();
}

}  // namespace holdfast::tests
