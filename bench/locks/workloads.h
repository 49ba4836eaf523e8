#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "bench/locks/measure.h"
#include "bench/locks/report.h"

namespace holdfast::bench_locks {

struct Workload {
  const char* name;
  Report (*run)(Seconds time);
};

// L1: acquire and release on SQLite, next to two bare updates of a row, each in its own
// transaction.
Report sqlite_pair(Seconds time);
// L2: from a release to the moment at which a waiter in another process holds the name.
Report sqlite_hand_off(Seconds time);
// L3: `true` under a lock from the shell.
Report run_true(Seconds time);
// L4: acquire and release on the memory engine, handle and keeper included, without and with
// metrics.
Report memory_pair(Seconds time);
// L5: the cost of 10,000 held leases.
Report held_leases(Seconds time);
// L6: 32 waiters of one process on one name.
Report fairness(Seconds time);
// L7: how many holds a waiter sees pass, with 1 to 8 threads in each of two processes and holds of
// 0 to 50 ms. Each cell of the grid runs for 100 holds, or for `time`.
Report sqlite_longest_wait(Seconds time);
Report redis_longest_wait(Seconds time);

// The other process of L2: acquires and releases `name` for each line of its input, and answers
// with the time of the grant.
int wait_for_orders(const std::string& url, const std::string& name);
// The other process of L7: `count` threads hold the name again and again from one line of its input
// to the next; then it prints the longest wait. `counter` is the file in which both processes count
// holds.
int take_turns(const std::string& url, const std::string& counter, int count,
               std::chrono::milliseconds hold);

}  // namespace holdfast::bench_locks
