#include <algorithm>
#include <utility>

#include <holdfast/base/name.h>

#include "apps/holdfast/cli/obstacles.h"
#include "apps/holdfast/serve/api.h"
#include "apps/holdfast/serve/api_json.h"
#include "apps/holdfast/serve/names_query.h"

namespace holdfast::cli::serve {

namespace {

// The waiters that a response has at most: of one name in a list of names, and of all.
constexpr std::size_t kMostOfOneRow = 10;
constexpr std::size_t kMostWaiters = 1000;

base::Result<std::string> required_name(const Target& target) {
  const std::string* const name = target.find("name");
  if (name == nullptr) {
    return base::fail(base::ErrorCode::invalid_argument, "the parameter name is missing");
  }
  if (auto valid = base::Name::make(*name); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  return *name;
}

base::Duration age_of(const Snapshot& snapshot) {
  return base::boot_clock().now() - snapshot.taken;
}

Json array_of(const auto& items, const auto& make) {
  Json all = Json::array();
  for (const auto& item : items) {
    all.push_back(make(item));
  }
  return all;
}

}  // namespace

Answer Api::names(const Target& target) const {
  const auto query = NamesQuery::parse(target);
  if (!query) {
    return error_response(query.error());
  }
  const SharedSnapshot snapshot = watcher_.snapshot();
  const base::Duration age = age_of(*snapshot);
  const Selection selection = select(*snapshot, *query);
  Json names = Json::array();
  for (const std::size_t place : selection.places) {
    const auto& [name, entry] = snapshot->entries[place];
    names.push_back(entry_json(name, entry, age, kMostOfOneRow));
  }
  return json_response({{"version", snapshot->version},
                        {"total", selection.total},
                        {"offset", query->offset},
                        {"names", std::move(names)}});
}

Answer Api::name(const Target& target) const {
  const auto name = required_name(target);
  if (!name) {
    return error_response(name.error());
  }
  const SharedSnapshot snapshot = watcher_.snapshot();
  const Entry* const entry = snapshot->find(*name);
  Json shown{{"version", snapshot->version}};
  shown.update(
      entry_json(*name, entry != nullptr ? *entry : Entry(), age_of(*snapshot), kMostWaiters));
  const NameHistory history =
      watcher_.history([&](const Chronicle& chronicle) { return chronicle.of(*name); });
  shown.update({{"holds", array_of(history.holds, hold_json)},
                {"waits", array_of(history.waits, wait_json)}});
  return json_response(shown);
}

Answer Api::why(const Target& target) const {
  auto name = required_name(target);
  if (!name) {
    return error_response(name.error());
  }
  return Work([store = store_, name = *std::move(name)] {
    const auto found = find_obstacles(*store, name);
    return found ? json_response(to_json(name, *found)) : error_response(found.error());
  });
}

Answer Api::waiters(const Target& /*target*/) const {
  const SharedSnapshot snapshot = watcher_.snapshot();
  const base::Duration age = age_of(*snapshot);
  Json names = Json::array();
  std::size_t shown = 0;
  for (const auto& [name, entry] : snapshot->entries) {
    if (!entry.waiters.empty() && shown < kMostWaiters) {
      const std::size_t more = std::min(entry.waiters.size(), kMostWaiters - shown);
      names.push_back(entry_json(name, entry, age, more));
      shown += more;
    }
  }
  return json_response({{"version", snapshot->version},
                        {"waiters", snapshot->waiters},
                        {"complete", shown >= snapshot->waiters},
                        {"names", std::move(names)},
                        {"deadlocks", array_of(snapshot->deadlocks, deadlock_json)}});
}

Answer Api::events(const Target& /*target*/) const {
  return watcher_.history([](const Chronicle& chronicle) -> Answer {
    return json_response({{"events", array_of(chronicle.events(), event_json)}});
  });
}

}  // namespace holdfast::cli::serve
