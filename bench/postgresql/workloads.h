#pragma once

#include <string>

#include "bench/locks/measure.h"
#include "bench/locks/report.h"

namespace holdfast::bench_postgresql {

using bench_locks::Report;
using bench_locks::Seconds;

// The environment of a workload: a server of this run, and how long each contender runs.
struct Context {
  std::string url;  // ends with an option
  Seconds seconds;
};

// M1: acquire and release uncontended names; one caller, and 64 threads.
Report lone_pairs(const Context& context);
Report crowded_pairs(const Context& context);
// M2: from a release to the moment at which a waiter at another store holds the name.
Report hand_off(const Context& context);
// M3: 32 waiters for one name, at one store and at two.
Report crowd_at_one_store(const Context& context);
Report crowd_at_two_stores(const Context& context);

}  // namespace holdfast::bench_postgresql
