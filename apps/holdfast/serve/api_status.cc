#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/engines/store_url.h>

#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/doctor/check_store.h"
#include "apps/holdfast/serve/api.h"
#include "apps/holdfast/serve/api_json.h"
#include "apps/holdfast/serve/metrics_text.h"
#include "apps/holdfast/serve/page.h"

namespace holdfast::cli::serve {

namespace {

constexpr int kOk = 200;
constexpr int kUnavailable = 503;

std::string_view state_of(const Snapshot& snapshot) {
  if (snapshot.down) {
    return "down";
  }
  return snapshot.answered ? "up" : "starting";
}

// Returns the keys that the page shows above all others, and that every event has.
Json summary(const Snapshot& snapshot) {
  const base::Duration age = base::boot_clock().now() - snapshot.taken;
  return {{"version", snapshot.version},
          {"state", state_of(snapshot)},
          {"error", snapshot.down ? to_json(*snapshot.down) : Json(nullptr)},
          {"age_ms", snapshot.answered ? Json(to_ms(age)) : Json(nullptr)},
          {"names", snapshot.entries.size()},
          {"held", snapshot.held},
          {"waiters", snapshot.waiters},
          {"deadlocks", snapshot.deadlocks.size()}};
}

// Returns the part of a name before its first / or :, with the type for the lock of an object.
std::string_view group_of(std::string_view name) {
  constexpr std::string_view kObjects = "object/";
  const std::size_t from = name.starts_with(kObjects) ? kObjects.size() : 0;
  return name.substr(0, name.find_first_of("/:", from));
}

struct Group {
  std::size_t names = 0;
  std::size_t waiters = 0;
};

// Returns the groups with the most names.
Json groups_json(const Snapshot& snapshot) {
  constexpr std::size_t kMost = 50;
  std::map<std::string_view, Group> groups;
  for (const auto& [name, entry] : snapshot.entries) {
    Group& group = groups[group_of(name)];
    ++group.names;
    group.waiters += entry.waiters.size();
  }
  std::vector<std::pair<std::string_view, Group>> sorted(groups.begin(), groups.end());
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const auto& item) { return item.second.names; });
  Json all = Json::array();
  for (std::size_t i = 0; i < std::min(sorted.size(), kMost); ++i) {
    const auto& [name, group] = sorted[i];
    all.push_back({{"group", name}, {"names", group.names}, {"waiters", group.waiters}});
  }
  return all;
}

Json kinds_json(const Snapshot& snapshot) {
  constexpr std::array<std::string_view, 5> kKinds{"lock", "mark", "once", "election", "foreign"};
  std::map<std::string_view, std::size_t> counts;
  for (const auto& [name, entry] : snapshot.entries) {
    if (entry.state) {
      ++counts[kind_of(name, *entry.state)];
    }
  }
  Json kinds{{kKinds.front(), counts[kKinds.front()]}};
  for (const std::string_view kind : kKinds | std::views::drop(1)) {
    kinds.update({{kind, counts[kind]}});
  }
  return kinds;
}

Json totals_json(const Totals& totals) {
  return {{"acquired", totals.acquired},
          {"released", totals.released},
          {"expired", totals.expired},
          {"stolen", totals.stolen},
          {"ended", totals.ended}};
}

Json samples_json(const Chronicle& chronicle) {
  Json all = Json::array();
  for (const Sample& sample : chronicle.samples()) {
    all.push_back({{"time", wall_text(sample.when)},
                   {"held", sample.held},
                   {"waiters", sample.waiters},
                   {"acquired", sample.acquired},
                   {"ended", sample.ended},
                   {"expired", sample.expired},
                   {"listing_ms", to_ms(sample.took)}});
  }
  return all;
}

}  // namespace

Event Api::newest() const {
  const SharedSnapshot snapshot = watcher_.snapshot();
  return {.version = snapshot->version, .data = to_line(summary(*snapshot))};
}

Answer Api::overview(const Target& /*target*/) const {
  const SharedSnapshot snapshot = watcher_.snapshot();
  Json shown = summary(*snapshot);
  shown.update({{"store", engines::without_password(location_.url)},
                {"engine", store_->capabilities().engine},
                {"listing_ms", to_ms(snapshot->took)},
                {"admin", admin_ != nullptr},
                {"kinds", kinds_json(*snapshot)},
                {"groups", groups_json(*snapshot)}});
  watcher_.history([&](const Chronicle& chronicle) {
    shown.update(
        {{"totals", totals_json(chronicle.totals())}, {"samples", samples_json(chronicle)}});
  });
  return json_response(shown);
}

Answer Api::health(const Target& /*target*/) const {
  return Work([health = health_, location = location_] {
    const Checks checks = health->checks();
    const bool good = std::ranges::none_of(
        checks, [](const Check& check) { return check.verdict >= Check::Verdict::failed; });
    return json_response({{"store", engines::without_password(location.url)},
                          {"origin", location.origin},
                          {"ok", good},
                          {"checks", to_json(checks)}});
  });
}

Answer Api::stream(const Target& /*target*/) const { return EventStream(); }

Answer Api::openapi(const Target& /*target*/) const {
  return Response{.body = std::string(openapi_text()), .headers = {}};
}

Answer Api::healthz(const Target& /*target*/) const {
  const SharedSnapshot snapshot = watcher_.snapshot();
  const std::string_view state = state_of(*snapshot);
  return Response{.status = state == "up" ? kOk : kUnavailable,
                  .body = to_line({{"store", state}}) + "\n",
                  .headers = {}};
}

Answer Api::metrics(const Target& /*target*/) const {
  const SharedSnapshot snapshot = watcher_.snapshot();
  const HttpStats http = server_.stats();
  return watcher_.history([&](const Chronicle& chronicle) -> Answer {
    return Response{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                    .body = metrics_text(*snapshot, chronicle, http),
                    .headers = {}};
  });
}

}  // namespace holdfast::cli::serve
