#pragma once

#include <set>

#include <tests/simulation/history.h>

namespace holdfast::simulation {

// Returns few faults of a history that breaks a promise, such that the same promise is still broken
// when only these happen: none of them can be left out alone.
[[nodiscard]] std::set<FaultId> fewest_faults(const HistoryOptions& options, const Outcome& broken);

}  // namespace holdfast::simulation
