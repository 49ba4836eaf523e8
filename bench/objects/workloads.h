#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "bench/local/measure.h"
#include "bench/locks/measure.h"
#include "bench/locks/report.h"

namespace holdfast::bench_objects {

using bench_locks::Report;
using bench_locks::Seconds;

struct Workload {
  const char* name;
  Report (*run)(Seconds time);
};

inline constexpr std::size_t kThreads = 2;

// Returns the operations per second of all threads together, for each contender: the median of some
// rounds in which they took turns.
using Contender = std::function<bench::Timing(Seconds time)>;
[[nodiscard]] std::vector<double> take_turns(Seconds time,
                                             const std::vector<Contender>& contenders);

// O1: typed calls of active objects, next to a bare lock and unlock of the KeyLock that they need.
Report typed_calls(Seconds time);
// O2: objects are created and erased, on the memory repository.
Report create_and_erase(Seconds time);
// O3: other ways to call.
Report other_calls(Seconds time);
// O4: saves to SQLite, in batches.
Report saves(Seconds time);

}  // namespace holdfast::bench_objects
