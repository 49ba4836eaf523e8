#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/local/keys.h"
#include "bench/local/measure.h"
#include "bench/local/options.h"
#include "bench/local/progress.h"
#include "bench/local/row.h"

namespace holdfast::bench {

struct Context {
  const Options& options;
  const Progress& progress;
  const Keys& keys;
};

struct Workload {
  std::string_view name;
  std::string_view title;
  Rows (*run)(const Workload& self, const Context& context);
};

// Returns all workloads, in the order in which they run.
std::span<const Workload> workloads();

Rows run_random_keys(const Workload& self, const Context& context);
Rows run_hot_exclusive(const Workload& self, const Context& context);
Rows run_hot_shared(const Workload& self, const Context& context);
Rows run_zipf_mix(const Workload& self, const Context& context);
Rows run_leases(const Workload& self, const Context& context);
Rows run_resident_leases(const Workload& self, const Context& context);
Rows run_memory(const Workload& self, const Context& context);
Rows run_sweep(const Workload& self, const Context& context);

}  // namespace holdfast::bench
