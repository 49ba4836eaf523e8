#pragma once

#include "bench/locks/measure.h"
#include "bench/locks/report.h"

namespace holdfast::bench_async {

using bench_locks::Report;
using bench_locks::Seconds;

struct Workload {
  const char* name;
  Report (*run)(Seconds time);
};

// A1: acquire and release on the memory engine, a coroutine beside a thread.
Report memory_pair(Seconds time);
// A2: 10,000 coroutines wait for 100 names on one thread: memory and processor time while they
// wait, and turns in a second when the names become free.
Report many_waiters(Seconds time);

}  // namespace holdfast::bench_async
