#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <tests/support/pgbouncer.h>
#include <tests/support/postgres_client.h>
#include <tests/support/postgres_server.h>

#include <holdfast/engines/postgresql/postgres_store.h>

#include "engines.h"

namespace holdfast::conformance {

namespace {

using engines::postgresql::PostgresOptions;
using testing::Place;

// Started when it is first needed: most runs of this program have nothing to do with it. What a
// crash of the machine would do is not tested here.
const tests::PostgresServer& server() {
  static const tests::PostgresServer kServer({.arguments = {"-c", "fsync=off"}});
  return kServer;
}

// In front of the same server, with four sessions for all clients.
const tests::PgBouncer& bouncer() {
  static const tests::PgBouncer kBouncer(server());
  return kBouncer;
}

// Every place has names of its own.
std::string fresh_prefix() {
  static std::atomic<int> places{0};
  return "place" + std::to_string(++places) + ":";
}

PostgresOptions options(const std::string& url, const std::string& prefix) {
  // A busy machine takes its time to start the server's process for a connection.
  return {.conninfo = url, .prefix = prefix, .connect_timeout = std::chrono::seconds(10)};
}

// Opens a store that has met the server: only then it knows if it can listen there.
std::shared_ptr<store::LeaseStore> connected(const PostgresOptions& options,
                                             engines::postgresql::Time time = {}) {
  std::shared_ptr<store::LeaseStore> store =
      base::value_or_throw(engines::postgresql::open_store(options, std::move(time)));
  base::value_or_throw(store->look("any"));
  return store;
}

// The server judges by a time that the test moves.
Place movable_place(const std::string& url) {
  const auto now = std::make_shared<std::atomic<std::chrono::microseconds>>(
      std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::system_clock::now().time_since_epoch()));
  const std::string prefix = fresh_prefix();
  return {.open = [now, url, prefix]() -> std::shared_ptr<store::LeaseStore> {
            return connected(options(url, prefix), [now] { return now->load(); });
          },
          .advance =
              [now](base::Duration by) {
                *now = now->load() + std::chrono::ceil<std::chrono::microseconds>(by);
              }};
}

// Does what the server does when the retention is over.
void forget_idle(const std::string& prefix) {
  tests::PostgresClient(server().conninfo())
      .change(
          "DELETE FROM holdfast.records AS r WHERE starts_with(encode(r.name, 'escape'), $1) "
          "AND r.expires <= extract(epoch FROM clock_timestamp()) * 1000000 "
          "AND r.used = 0 AND r.counts_until = 0 AND cardinality(r.wait_ids) = 0",
          {prefix});
}

Place real_time_place(const std::string& url) {
  const std::string prefix = fresh_prefix();
  return {.open = [url, prefix]() -> std::shared_ptr<store::LeaseStore> {
            return connected(options(url, prefix));
          },
          .url = url + "&prefix=" + prefix,
          .clean_up = [prefix] { forget_idle(prefix); }};
}

}  // namespace

testing::EngineUnderTest postgresql_engine() {
  return {.name = "postgresql",
          .make_place = [] { return movable_place(server().url()); },
          .make_real_time_place = [] { return real_time_place(server().url()); },
          .taker = HOLDFAST_TAKER};
}

testing::EngineUnderTest postgresql_engine_in_real_time() {
  return {.name = "postgresql_in_real_time",
          .make_place = [] { return real_time_place(server().url()); },
          .taker = HOLDFAST_TAKER};
}

testing::EngineUnderTest postgresql_engine_through_pgbouncer() {
  return {.name = "postgresql_through_pgbouncer",
          .make_place = [] { return real_time_place(bouncer().url()); },
          .taker = HOLDFAST_TAKER};
}

testing::EngineUnderTest postgresql_store_through_pgbouncer() {
  return {.name = "postgresql_through_pgbouncer_in_test_time",
          .make_place = [] { return movable_place(bouncer().url()); },
          .make_real_time_place = [] { return real_time_place(bouncer().url()); },
          .taker = HOLDFAST_TAKER};
}

}  // namespace holdfast::conformance
