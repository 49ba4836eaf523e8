#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/leases.h>
#include <tests/support/patience.h>
#include <tests/support/postgres_client.h>
#include <tests/support/postgres_server.h>

#include <holdfast/engines/postgresql/postgres_store.h>

namespace holdfast::tests {

// A busy machine takes its time to start the server's process for a connection.
inline constexpr base::Duration kPatientConnect = std::chrono::seconds(10);

inline std::unique_ptr<store::LeaseStore> opened(engines::postgresql::PostgresOptions options) {
  return base::value_or_throw(engines::postgresql::open_store(std::move(options)));
}

// A schema of its own on the server that all tests of this process share, a store there, and a
// client that sees what the store has put there.
class PostgresTest : public ::testing::Test {
 protected:
  static const PostgresServer& server() {
    static const PostgresServer kServer({.arguments = {"-c", "fsync=off"}});
    return kServer;
  }
  [[nodiscard]] engines::postgresql::PostgresOptions options() const {
    return {.conninfo = server().url(), .schema = schema_, .connect_timeout = kPatientConnect};
  }
  [[nodiscard]] std::unique_ptr<store::LeaseStore> another_store() const {
    return opened(options());
  }

  // `{schema}` in the statement is that of this test.
  [[nodiscard]] std::string in_schema(std::string sql) const {
    constexpr std::string_view kPlace = "{schema}";
    for (std::size_t at = sql.find(kPlace); at != std::string::npos; at = sql.find(kPlace)) {
      sql.replace(at, kPlace.size(), schema_);
    }
    return sql;
  }
  std::string ask(const std::string& sql) { return client_.ask(in_schema(sql)); }
  void change(const std::string& sql) { client_.change(in_schema(sql)); }
  int in_queue() { return std::stoi(ask("SELECT count(*) FROM {schema}.queue")); }

  store::RenewOutcome renew(std::string_view name, const base::LeaseId& id,
                            base::Ttl ttl = std::chrono::minutes(10)) {
    const store::Renewal renewal{.name = name, .id = id, .ttl = ttl};
    return base::value_or_throw(store_->renew({&renewal, 1})).at(0);
  }
  store::ReleaseOutcome release(std::string_view name, const base::LeaseId& id) {
    return base::value_or_throw(store_->release(name, id));
  }
  std::vector<store::Holder> holders(std::string_view name) {
    const auto state = base::value_or_throw(store_->look(name));
    return state ? state->holders : std::vector<store::Holder>();
  }
  base::LeaseId holder(std::string_view name) {
    const auto all = holders(name);
    return all.empty() ? base::LeaseId() : all.front().id;
  }

 private:
  static std::string fresh_schema() {
    static std::atomic<int> schemas{0};
    return "test" + std::to_string(++schemas);
  }

 protected:
  const std::string schema_ = fresh_schema();
  PostgresClient client_{server().conninfo()};
  std::unique_ptr<store::LeaseStore> store_ = another_store();
};

}  // namespace holdfast::tests
