#include <algorithm>
#include <functional>

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
    case ended: return "ended";
  }
  return "unknown";
}

std::vector<LeaseEvent> LeaseHistory::update(base::TimePoint now,
                                             const std::vector<store::NameState>& names) {
  using enum LeaseEvent::Kind;
  std::map<Key, Seen> current;
  std::vector<LeaseEvent> came;
  std::map<std::string, base::TimePoint> first_came;
  for (const store::NameState& state : names) {
    for (const store::Holder& holder : state.holders) {
      const Key key{.name = std::string(state.name.view()),
                    .id = holder.id,
                    .foreign_owner = holder.foreign ? holder.owner : std::string()};
      const auto before = seen_.find(key);
      if (before == seen_.end()) {
        const base::TimePoint when = std::clamp(now - holder.held_for, last_.value_or(now), now);
        came.push_back({last_ ? acquired : held, key.name, holder, when});
        first_came[key.name] = std::min(first_came.try_emplace(key.name, when).first->second, when);
      }
      const base::Duration most_left = std::max(
          holder.time_left, before != seen_.end() ? before->second.most_left : holder.time_left);
      current.emplace(key, Seen{holder, base::add_saturating(now, holder.time_left), most_left});
    }
  }
  std::vector<LeaseEvent> events;
  for (const auto& [key, seen] : seen_) {
    if (current.contains(key)) {
      continue;
    }
    const bool is_over = now >= seen.expires;
    // Holders renew when a third of the time is over: at half of it they were late already.
    const bool has_expired = is_over && seen.holder.time_left < seen.most_left / 2;
    // A release is no later than the acquisition that followed it.
    const auto next = first_came.find(key.name);
    const base::TimePoint latest = next != first_came.end() ? next->second : now;
    const LeaseEvent::Kind kind = has_expired ? expired : is_over ? ended : released;
    events.push_back({kind, key.name, seen.holder,
                      has_expired ? std::clamp(seen.expires, *last_, latest) : latest});
  }
  // The age tells which of them were held before.
  std::ranges::stable_sort(came, std::greater(),
                           [](const LeaseEvent& event) { return event.holder.held_for; });
  events.insert(events.end(), came.begin(), came.end());
  std::ranges::stable_sort(events, {}, &LeaseEvent::when);
  seen_ = std::move(current);
  last_ = now;
  return events;
}

}  // namespace holdfast::cli
