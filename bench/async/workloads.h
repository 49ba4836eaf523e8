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

// A1: lock and unlock a key that nobody else wants, in a coroutine.
Report key_pairs(Seconds time);
// A2: a key goes from coroutine to coroutine, all on one thread.
Report key_hand_over(Seconds time);
// A3: what a coroutine that waits for a key takes from the heap.
Report key_waiters(Seconds time);

}  // namespace holdfast::bench_async
