#include <algorithm>

#include <holdfast/base/saturate.h>

#include "apps/holdfast/watching/lease_history.h"

namespace holdfast::cli {

std::string_view to_string(LeaseEvent::Kind kind) noexcept {
  using enum LeaseEvent::Kind;
  switch (kind) {
    case held: return "held";
    case acquired: return "acquired";
    case released: return "released";
    case expired: return "expired";
  }
  return "unknown";
}

std::vector<LeaseEvent> LeaseHistory::update(base::TimePoint now,
                                             const std::vector<store::NameState>& names) {
  using enum LeaseEvent::Kind;
  std::map<Key, Seen> current;
  std::vector<LeaseEvent> came;
  for (const store::NameState& state : names) {
    for (const store::Holder& holder : state.holders) {
      const Key key{.name = std::string(state.name.view()),
                    .id = holder.id,
                    .foreign_owner = holder.foreign ? holder.owner : std::string()};
      if (!seen_.contains(key)) {
        came.push_back({begun_ ? acquired : held, key.name, holder});
      }
      current.emplace(key, Seen{holder, base::add_saturating(now, holder.time_left)});
    }
  }
  std::vector<LeaseEvent> events;
  for (const auto& [key, seen] : seen_) {
    if (!current.contains(key)) {
      events.push_back({now >= seen.expires ? expired : released, key.name, seen.holder});
    }
  }
  events.insert(events.end(), came.begin(), came.end());
  std::ranges::stable_sort(events, {}, &LeaseEvent::name);
  seen_ = std::move(current);
  begun_ = true;
  return events;
}

}  // namespace holdfast::cli
