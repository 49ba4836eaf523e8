#include <tests/fence/sqlite_client.h>

#include <stdexcept>

#include <sqlite3.h>

namespace holdfast::tests {

namespace {

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

constexpr int kPatienceMs = 60'000;

Statement prepare(sqlite3* db, const std::string& sql, const std::vector<std::string>& parameters) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(db));
  }
  Statement statement(raw, &sqlite3_finalize);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (sqlite3_bind_text(raw, static_cast<int>(i) + 1, parameters[i].c_str(), -1,
                          SQLITE_TRANSIENT) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(db));
    }
  }
  return statement;
}

// Returns whether there is a row.
bool step(sqlite3* db, sqlite3_stmt* statement) {
  const int rc = sqlite3_step(statement);
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
    throw std::runtime_error(sqlite3_errmsg(db));
  }
  return rc == SQLITE_ROW;
}

}  // namespace

void SqliteClient::Free::operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }

SqliteClient::SqliteClient(const std::string& file) {
  sqlite3* db = nullptr;
  const int rc = sqlite3_open(file.c_str(), &db);
  db_.reset(db);
  if (rc != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(db));
  }
  sqlite3_busy_timeout(db, kPatienceMs);
}

int SqliteClient::change(const std::string& sql, const std::vector<std::string>& parameters) {
  const Statement statement = prepare(db_.get(), sql, parameters);
  const int before = sqlite3_total_changes(db_.get());
  while (step(db_.get(), statement.get())) {
  }
  return sqlite3_total_changes(db_.get()) - before;
}

std::string SqliteClient::ask(const std::string& sql, const std::vector<std::string>& parameters) {
  const Statement statement = prepare(db_.get(), sql, parameters);
  if (!step(db_.get(), statement.get())) {
    return "";
  }
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), 0));
  return text != nullptr ? text : "NULL";
}

}  // namespace holdfast::tests
