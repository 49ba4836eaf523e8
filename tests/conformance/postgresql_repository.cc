#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <tests/support/pgbouncer.h>
#include <tests/support/postgres_client.h>
#include <tests/support/postgres_server.h>

#include <holdfast/engines/postgresql/postgres_repository.h>

#include "repositories.h"

namespace holdfast::conformance {

namespace {

using engines::postgresql::PostgresOptions;
using testing::RepositoryPlace;
using tests::PostgresClient;
using tests::PostgresServer;

// Started when it is first needed: most runs of this program have nothing to do with it.
const PostgresServer& server() {
  static const PostgresServer kServer({.arguments = {"-c", "fsync=off"}});
  return kServer;
}

// Every place has types of its own.
std::string fresh_prefix() {
  static std::atomic<int> places{0};
  return "place" + std::to_string(++places) + ":";
}

// A loaded machine is slow, and slowness is not what is tested.
constexpr std::chrono::seconds kPatience{60};

std::function<std::shared_ptr<store::ObjectRepository>()> opener(const std::string& url,
                                                                 const std::string& prefix) {
  return [url, prefix]() -> std::shared_ptr<store::ObjectRepository> {
    return base::value_or_throw(engines::postgresql::open_repository({.conninfo = url,
                                                                      .prefix = prefix,
                                                                      .connect_timeout = kPatience,
                                                                      .reply_timeout = kPatience}));
  };
}

// In front of the same server, with four sessions for all clients.
const tests::PgBouncer& bouncer() {
  static const tests::PgBouncer kBouncer(server());
  return kBouncer;
}

RepositoryPlace place(const std::string& url) {
  const std::string prefix = fresh_prefix();
  return {.open = opener(url, prefix), .url = url + "&reply_timeout=60s&prefix=" + prefix};
}

// A server of its own, that writes everything to its disk.
RepositoryPlace frail_place() {
  const auto own = std::make_shared<PostgresServer>();
  return {.open = [own, open = opener(own->url(), "")] { return open(); },
          .hang = [own] { own->suspend(); },
          .go_on = [own] { own->resume(); },
          .restart = [own] { own->restart(); },
          .keeps_data = true,
          // Does what a look at every page of the table would do.
          .outlast_retention =
              [own] {
                PostgresClient(own->conninfo())
                    .change("DELETE FROM holdfast.objects WHERE data IS NULL");
              }};
}

}  // namespace

testing::RepositoryUnderTest postgresql_repository() {
  return {.name = "postgresql",
          .make_place = [] { return place(server().url()); },
          .make_frail_place = frail_place,
          .saver = HOLDFAST_SAVER};
}

testing::RepositoryUnderTest postgresql_repository_through_pgbouncer() {
  return {.name = "postgresql_through_pgbouncer",
          .make_place = [] { return place(bouncer().url()); },
          .saver = HOLDFAST_SAVER};
}

}  // namespace holdfast::conformance
