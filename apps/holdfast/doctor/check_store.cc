#include <utility>

#include <holdfast/engines/store_url.h>

#include "apps/holdfast/doctor/check_store.h"
#include "apps/holdfast/doctor/file_checks.h"
#include "apps/holdfast/doctor/server_checks.h"
#include "apps/holdfast/doctor/store_checks.h"

namespace holdfast::cli {

namespace {

using Verdict = Check::Verdict;

Check check_location(const StoreLocation& location) {
  std::string detail = engines::without_password(location.url) + " (from " + location.origin + ")";
  if (!location.is_exposed) {
    return {"store", Verdict::ok, std::move(detail)};
  }
  return {"store", Verdict::warning,
          detail +
              ": all users see its password in the list of processes, so put it into a file "
              "and use password_file or HOLDFAST_PASSWORD_FILE"};
}

}  // namespace

Checks check_store(store::LeaseStore& store, const StoreLocation& location,
                   RoundTrips round_trips) {
  Checks checks{check_location(location)};
  const auto add = [&](const Checks& more) {
    checks.insert(checks.end(), more.begin(), more.end());
  };
  const store::Capabilities capabilities = store.capabilities();
  add(check_promises(capabilities));
  if (round_trips == RoundTrips::made) {
    add(check_round_trip(store));
  }
  const auto url = engines::StoreUrl::parse(location.url);
  if (url && capabilities.engine == "sqlite") {
    add(check_file(url->rest));
  }
  if (capabilities.engine == "mongodb") {
    add(check_mongodb(location.url));
  }
  if (capabilities.engine == "postgresql") {
    add(check_postgresql(location.url));
  }
  if (capabilities.engine == "redis") {
    add(check_redis(location.url));
  }
  return checks;
}

Json to_json(const Checks& checks) {
  Json all = Json::array();
  for (const Check& check : checks) {
    all.push_back(
        {{"name", check.name}, {"status", to_string(check.verdict)}, {"detail", check.detail}});
  }
  return all;
}

}  // namespace holdfast::cli
