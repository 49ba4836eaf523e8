#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tests/simulation/world.h>

namespace holdfast::simulation {

// A fault that befalls a whole process, the server or the network at a certain time.
struct Planned {
  Fault fault = Fault::partition;
  std::uint64_t number = 0;  // its place in the plan
  base::TimePoint at{};
  base::Duration lasts{};
  int process = 0;
  bool is_odd = false;  // which of two kinds: a silent partition or a refusing one, …
};

// Returns the faults that a seed plans.
[[nodiscard]] std::vector<Planned> draw_plan(const Setting& setting);

}  // namespace holdfast::simulation
