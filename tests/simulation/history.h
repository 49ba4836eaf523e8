#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <set>
#include <vector>

#include <tests/simulation/acquire_rows.h>
#include <tests/simulation/checker.h>
#include <tests/simulation/faults.h>
#include <tests/simulation/world.h>

namespace holdfast::simulation {

struct HistoryOptions {
  std::uint64_t seed = 0;
  Bug bug = Bug::none;
  std::optional<std::set<FaultId>> only{};  // these faults, and no others
  std::ostream* trace = nullptr;
};

// The result of a history.
struct Outcome {
  std::optional<Violation> violation;
  std::vector<FaultId> injected;
  FaultCounts faults{};
  AcquireRows rows{};
  std::array<std::uint64_t, kPromises> checks{};
  base::Duration simulated{};
  std::uint64_t events = 0;
};

// Returns what the seed says of a history.
[[nodiscard]] Setting draw_setting(std::uint64_t seed);

// Plays one history, from its beginning until nothing is left of it, or until a promise is broken.
// The same options give the same outcome.
[[nodiscard]] Outcome play(const HistoryOptions& options);

}  // namespace holdfast::simulation
