#include <algorithm>
#include <chrono>

#include "apps/holdfast/serve/snapshot.h"

namespace holdfast::cli::serve {

namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

}  // namespace

const Entry* Snapshot::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      entries, name, {}, [](const auto& entry) -> std::string_view { return entry.first; });
  return found != entries.end() && found->first == name ? &found->second : nullptr;
}

Entry aged(const Entry& entry, base::Duration age) {
  Entry now = entry;
  if (now.state) {
    for (store::Holder& holder : now.state->holders) {
      holder.held_for += age;
      holder.time_left = std::max(holder.time_left - age, base::Duration::zero());
    }
  }
  for (locks::Waiter& waiter : now.waiters) {
    waiter.waited += age;
    waiter.seen_before += age;
  }
  return now;
}

base::Duration pause_after(std::size_t names, base::Duration took, base::Duration every) {
  constexpr std::size_t kShare = 20;
  constexpr microseconds kForEachName{500};
  constexpr seconds kMostForTime{10};
  constexpr seconds kMostForNames{60};
  const base::Duration by_time = std::min<base::Duration>(took * kShare, kMostForTime);
  const base::Duration by_names =
      std::min<base::Duration>(kForEachName * static_cast<std::int64_t>(names), kMostForNames);
  return std::max({every, by_time, by_names});
}

}  // namespace holdfast::cli::serve
