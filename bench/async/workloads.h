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

// A1: lock and unlock an uncontended key, in a coroutine.
Report key_pairs(Seconds time);
// A2: a key passes from coroutine to coroutine, all on one thread.
Report key_hand_over(Seconds time);
// A3: the heap memory of a coroutine that waits for a key.
Report key_waiters(Seconds time);
// A4: acquire and release a name over the memory engine, in a coroutine and in a thread.
Report provider_pairs(Seconds time);
// A5: 10,000 coroutines wait for 100 names on one thread: memory and processor time while they
// wait, and the time of a turn when the names become free.
Report provider_waiters(Seconds time);

}  // namespace holdfast::bench_async
