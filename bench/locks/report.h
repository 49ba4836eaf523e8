#pragma once

#include <string>
#include <vector>

namespace holdfast::bench_locks {

// One figure of one contender: the median over rounds in which the contenders took turns.
struct Row {
  std::string contender;
  double value;
  std::string unit;
};

// A target of a workload, and whether this run reached it.
struct Target {
  std::string text;
  bool reached;
};

struct Report {
  std::string workload;  // "L1"
  std::string about;
  std::vector<Row> rows;
  std::vector<Target> targets;
};

void print_table(const Report& report);
void print_json(const std::vector<Report>& reports);

}  // namespace holdfast::bench_locks
