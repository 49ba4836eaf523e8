#include <holdfast/locks/deadlock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/base/try.h>
#include <holdfast/locks/internal/wait_graph.h>

namespace holdfast::locks {

namespace {

using base::Result;
using internal::WaitGraph;
using namespace std::chrono_literals;

// More than a renewal of those that hold something takes.
constexpr base::Duration kUntilSeenAgain = 550ms;
constexpr base::Duration kBetweenLooks = 250ms;
constexpr int kLooks = 6;
// A store may round the time that is left of a lease.
constexpr base::Duration kRounding = 5ms;
// A chain of waiters that is longer is not followed further.
constexpr std::size_t kMostNames = 256;

// Follows the waiters that keep `name` from becoming free: looks at the names that its holders wait
// for, at those that their holders wait for, and so on.
Result<WaitGraph> look_behind(store::LeaseStore& store, std::string_view name,
                              base::Deadline deadline) {
  WaitGraph graph;
  HOLDFAST_TRY_LET(graph.waiters, list_waiters(store, {}, deadline));
  std::erase_if(graph.waiters, [](const Waiter& waiter) { return waiter.holding.empty(); });
  std::vector<std::string> names{std::string(name)};
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i) {
    HOLDFAST_TRY_LET(auto state, store.look(names[i], deadline));
    if (!state) {
      continue;
    }
    for (const Waiter& waiter : graph.waiters) {
      const bool is_holder = std::ranges::any_of(state->holders, [&](const store::Holder& holder) {
        return std::ranges::find(waiter.holding, holder.id) != waiter.holding.end();
      });
      if (is_holder && std::ranges::find(names, waiter.name) == names.end()) {
        names.push_back(waiter.name);
      }
    }
    graph.names.push_back(*std::move(state));
  }
  return graph;
}

}  // namespace

Result<std::vector<Waiter>> find_deadlock(store::LeaseStore& store, std::string_view name,
                                          base::Deadline deadline) {
  HOLDFAST_TRY_LET(const WaitGraph suspicion, look_behind(store, name, deadline));
  std::vector<Waiter> circle;
  if (internal::deadlock_behind(name, suspicion).empty()) {
    return circle;
  }
  const base::Clock& clock = base::steady_clock();
  const base::TimePoint moment = clock.now();
  base::TimePoint again = moment + kUntilSeenAgain;
  for (int look = 0; look < kLooks && !deadline.expired(again); ++look) {
    clock.sleep_until(again, {});
    const base::TimePoint asked = clock.now();
    again = asked + kBetweenLooks;
    HOLDFAST_TRY_LET(const WaitGraph now, look_behind(store, name, deadline));
    circle = internal::deadlock_behind(
        name, internal::certain(suspicion, now, asked - moment - kRounding));
    if (!circle.empty() || internal::deadlock_behind(name, now).empty()) {
      break;
    }
  }
  return circle;
}

std::vector<std::vector<Waiter>> deadlocks_in(const WaitListing& before, const WaitListing& after,
                                              base::Duration between) {
  WaitGraph graph =
      internal::certain({.waiters = before.waiters, .names = before.names},
                        {.waiters = after.waiters, .names = after.names}, between - kRounding);
  std::erase_if(graph.waiters, [](const Waiter& waiter) { return waiter.holding.empty(); });
  if (graph.waiters.size() > kMostNames) {
    graph.waiters.erase(graph.waiters.begin() + kMostNames, graph.waiters.end());
  }
  std::vector<std::vector<Waiter>> deadlocks;
  std::unordered_set<base::LeaseId> seen;  // the waiters of those
  for (const Waiter& waiter : graph.waiters) {
    if (seen.contains(waiter.id)) {
      continue;
    }
    std::vector<Waiter> circle = internal::deadlock_behind(waiter.name, graph);
    if (circle.empty() || seen.contains(circle.front().id)) {
      continue;
    }
    for (const Waiter& member : circle) {
      seen.insert(member.id);
    }
    deadlocks.push_back(std::move(circle));
  }
  return deadlocks;
}

}  // namespace holdfast::locks
