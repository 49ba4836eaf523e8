#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::cli {

// Returns whether the store may work again later.
[[nodiscard]] bool may_come_back(const base::Error& error) noexcept;

using StatePredicate = std::function<bool(const std::optional<store::NameState>&)>;

// Returns how long to wait before the next look: `pause`, but no longer than the earliest lease or
// the deadline lasts, and never so short that a lease without time left makes a busy loop.
[[nodiscard]] base::Duration pause_before_look(base::Duration pause,
                                               const std::optional<store::NameState>& state,
                                               base::Duration until_deadline);

// Blocks until the state of the name is as wanted (true) or until the deadline, of
// base::boot_clock() (false), asking one last time then. A stop ends it with ErrorCode::cancelled.
// Asks when the store hints at a change, when a lease runs out, and now and then by itself. A store
// that has answered once and becomes unreachable is asked again until the deadline.
[[nodiscard]] base::Result<bool> until(store::LeaseStore& store, std::string_view name,
                                       const StatePredicate& wanted, base::Deadline deadline,
                                       const std::stop_token& stop);

}  // namespace holdfast::cli
