#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/locks/report.h"

namespace holdfast::bench_locks {

void print_table(const Report& report) {
  fmt::print("{}  {}\n", report.workload, report.about);
  for (const Row& row : report.rows) {
    fmt::print("  {:<34} {:>12.2f} {}\n", row.contender, row.value, row.unit);
  }
  for (const Target& target : report.targets) {
    fmt::print("  {}: {}\n", target.text, target.reached ? "reached" : "NOT reached");
  }
  fmt::print("\n");
}

void print_json(const std::vector<Report>& reports) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Report& report : reports) {
    for (const Row& row : report.rows) {
      rows.push_back({{"workload", report.workload},
                      {"contender", row.contender},
                      {"value", row.value},
                      {"unit", row.unit}});
    }
  }
  fmt::print("{}\n", rows.dump(2));
}

}  // namespace holdfast::bench_locks
