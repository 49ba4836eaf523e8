#include <holdfast/locks/internal/wait_graph.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>

namespace holdfast::locks::internal {

namespace {

using Ids = std::unordered_set<base::LeaseId>;

bool holds(const Waiter& waiter, const base::LeaseId& id) {
  return std::ranges::find(waiter.holding, id) != waiter.holding.end();
}

Ids held_by(const std::vector<Waiter>& waiters) {
  Ids ids;
  for (const Waiter& waiter : waiters) {
    ids.insert(waiter.holding.begin(), waiter.holding.end());
  }
  return ids;
}

Ids leases_of(const std::vector<store::NameState>& names) {
  Ids ids;
  for (const store::NameState& state : names) {
    for (const store::Holder& holder : state.holders) {
      ids.insert(holder.id);
    }
  }
  return ids;
}

// Returns whether the claim cannot be granted while these leases are held.
bool is_stuck(const Waiter& waiter, const store::NameState* state, const Ids& kept) {
  if (state == nullptr || state->capacity != waiter.wants.capacity) {
    return false;
  }
  std::uint64_t taken = 0;
  for (const store::Holder& holder : state->holders) {
    if (holder.id == waiter.id) {
      return false;  // it was granted
    }
    if (kept.contains(holder.id)) {
      taken += holder.permits;
    }
  }
  return taken + waiter.wants.count > state->capacity;
}

// Each round removes those that are not stuck; what they hold will be released.
std::vector<Waiter> stuck_waiters(const WaitGraph& graph) {
  std::vector<Waiter> stuck = graph.waiters;
  for (std::size_t before = 0; before != stuck.size();) {
    before = stuck.size();
    const Ids kept = held_by(stuck);
    std::erase_if(stuck, [&](const Waiter& waiter) {
      return !is_stuck(waiter, graph.state_of(waiter.name), kept);
    });
  }
  return stuck;
}

// Returns the first of the waiters that holds a lease on the name; null if none does.
const Waiter* waiting_holder(const store::NameState* state, const std::vector<Waiter>& waiters) {
  if (state == nullptr) {
    return nullptr;
  }
  for (const store::Holder& holder : state->holders) {
    const auto found = std::ranges::find_if(
        waiters, [&](const Waiter& waiter) { return holds(waiter, holder.id); });
    if (found != waiters.end()) {
      return &*found;
    }
  }
  return nullptr;
}

}  // namespace

const store::NameState* WaitGraph::state_of(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(
      names, [name](const store::NameState& state) { return state.name.view() == name; });
  return found != names.end() ? &*found : nullptr;
}

// A stuck waiter always has a next one, so that the walk ends in a circle.
std::vector<Waiter> deadlock_behind(std::string_view name, const WaitGraph& graph) {
  const std::vector<Waiter> stuck = stuck_waiters(graph);
  std::vector<const Waiter*> walked;
  const Waiter* next = waiting_holder(graph.state_of(name), stuck);
  auto again = walked.end();
  while (next != nullptr && (again = std::ranges::find(walked, next)) == walked.end()) {
    walked.push_back(next);
    next = waiting_holder(graph.state_of(next->name), stuck);
  }
  std::vector<Waiter> circle;
  for (auto waiter = next != nullptr ? again : walked.end(); waiter != walked.end(); ++waiter) {
    circle.push_back(**waiter);
  }
  return circle;
}

WaitGraph certain(const WaitGraph& before, const WaitGraph& after, base::Duration since) {
  WaitGraph both = after;
  Ids seen;
  for (const Waiter& waiter : before.waiters) {
    seen.insert(waiter.id);
  }
  std::erase_if(both.waiters, [&](const Waiter& waiter) {
    return waiter.seen_before > since || !seen.contains(waiter.id);
  });
  const Ids leases = leases_of(before.names);
  for (Waiter& waiter : both.waiters) {
    std::erase_if(waiter.holding, [&](const base::LeaseId& id) { return !leases.contains(id); });
  }
  return both;
}

}  // namespace holdfast::locks::internal
