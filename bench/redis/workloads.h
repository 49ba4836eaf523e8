#pragma once

#include <cstddef>
#include <string>

#include <tests/support/redis_server.h>

#include "bench/locks/measure.h"
#include "bench/locks/report.h"

namespace holdfast::bench_redis {

using bench_locks::Report;
using bench_locks::Seconds;

struct Settings {
  Seconds seconds{3};           // of each contender in a workload
  std::size_t leases = 10'000;  // that M4 holds and M6 watches
  bool spin = false;            // another process keeps a core awake
};

// The environment of a workload: a server of this run.
struct Context {
  const Settings& settings;
  const tests::RedisServer& server;
};

struct Workload {
  const char* name;
  Report (*run)(const Context& context);
};

// M1: acquire and release uncontended names; one caller, and 64 threads.
Report lone_pairs(const Context& context);
Report crowded_pairs(const Context& context);
// M2: from a release to the moment at which a waiter in another process holds the name.
Report hand_off(const Context& context);
// M3: 32 waiters for one name, in one process and in two.
Report crowd_in_one_process(const Context& context);
Report crowd_in_two_processes(const Context& context);
// M4: the cost of leases that are held and renewed.
Report held_leases(const Context& context);
// M5: how long the server works on the claim and the release of a free mutex.
Report server_cost(const Context& context);
// M6: the cost of `holdfast serve` for as many names as M4 has leases: its own, and the server's.
Report watched_names(const Context& context);

// The way this program starts itself as another process of a workload: `--as ROLE URL …`.
int run_as(const std::vector<std::string>& words);
int wait_for_orders(const std::string& url);
int listen_for_orders(const std::string& port);
int take_on_orders(const std::string& port);
int join_crowd(const std::string& url, const std::string& file, const std::string& seconds);

// Returns the command that starts this program in a role.
[[nodiscard]] std::vector<std::string> role(const std::vector<std::string>& words);

// Reads a clock that all processes share.
[[nodiscard]] long long now_ns();

}  // namespace holdfast::bench_redis
