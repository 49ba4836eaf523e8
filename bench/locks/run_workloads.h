#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "bench/locks/report.h"

namespace holdfast::bench_locks {

// Runs the workloads that `only` names, or all, with `run(workload)`, and prints the reports: each
// as a table when it is there, or all of them as JSON at the end.
template <class Workloads, class Run>
void run_workloads(const Workloads& workloads, const std::vector<std::string>& only, bool json,
                   const Run& run) {
  std::vector<Report> reports;
  for (const auto& workload : workloads) {
    if (!only.empty() && std::ranges::find(only, workload.name) == only.end()) continue;
    reports.push_back(run(workload));
    if (!json) print_table(reports.back());
  }
  if (json) print_json(reports);
}

}  // namespace holdfast::bench_locks
