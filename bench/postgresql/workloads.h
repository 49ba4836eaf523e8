#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/locks/measure.h"
#include "bench/locks/report.h"

namespace holdfast::bench_postgresql {

using bench_locks::Report;
using bench_locks::Seconds;

// The environment of a workload: a server of this run, how long each contender runs, and the sizes
// of M4 and M5.
struct Context {
  std::string url;  // ends with an option
  Seconds seconds;
  std::size_t leases;
  std::uint64_t operations;
};

// M1: acquire and release uncontended names; one caller, and 64 threads.
Report lone_pairs(const Context& context);
Report crowded_pairs(const Context& context);
// M2: from a release to the moment at which a waiter at another store holds the name.
Report hand_off(const Context& context);
// M3: 32 waiters for one name, at one store and at two.
Report crowd_at_one_store(const Context& context);
Report crowd_at_two_stores(const Context& context);
// M4: the processor time to keep leases alive.
Report held_leases(const Context& context);
// M5: the size of the tables over many operations.
Report bloat(const Context& context);

}  // namespace holdfast::bench_postgresql
