#pragma once

#include <string_view>
#include <vector>

#include <holdfast/locks/waiters.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks::internal {

// Waiters, and the states of the names that they wait for, at one moment.
struct WaitGraph {
  std::vector<Waiter> waiters;
  std::vector<store::NameState> names;

  // Returns the state of this name; null if it has none here, or nobody holds it.
  [[nodiscard]] const store::NameState* state_of(std::string_view name) const noexcept;
};

// Returns the waiters of one deadlock that a holder of `name` is part of or waits for, in the order
// in which they wait for each other. Empty if there is none. No I/O, no clock.
//
// A waiter is stuck if its claim cannot be granted even when every lease is released that no stuck
// waiter holds.
[[nodiscard]] std::vector<Waiter> deadlock_behind(std::string_view name, const WaitGraph& graph);

// Returns what is certain about a moment between two looks that were taken one after the other: the
// waiters that are in both and were seen within the time `since` that moment, and of what they hold
// only the leases that are in both.
[[nodiscard]] WaitGraph certain(const WaitGraph& before, const WaitGraph& after,
                                base::Duration since);

}  // namespace holdfast::locks::internal
