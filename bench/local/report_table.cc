#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <variant>

#include <fmt/format.h>

#include "bench/local/report.h"
#include "bench/local/targets.h"

namespace holdfast::bench {

namespace {

// Returns the verdicts on the targets of this row.
std::string verdicts_on(const Row& row, std::span<const Row> rows, Judging judging) {
  std::string text;
  if (judging == Judging::off) return text;
  const Memory* const memory = std::get_if<Memory>(&row.figure);
  const std::string_view subject =
      memory == nullptr ? row.contender
                        : (row.contender == "holdfast" ? memory->structure : std::string_view{});
  for (const Target& target : targets()) {
    if (target.workload != row.workload || target.threads != row.threads ||
        target.against != subject) {
      continue;
    }
    if (const auto verdict = judge(target, rows)) {
      fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : "; ",
                     describe(target, *verdict));
    }
  }
  return text;
}

std::string describe_speedup(const Row& row, std::span<const Row> rows) {
  const auto ratio = speedup(row, rows);
  return ratio ? fmt::format("{:.2f}×", *ratio) : "";
}

// Prints without the blanks that a table's empty last column would leave.
void print_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  fmt::print("{}\n", line);
}

void print_speeds(std::span<const Row> rows, Judging judging) {
  print_line(fmt::format("  {:>7}  {:<10} {:>9} {:>9} {:>12}   {}", "threads", "contender", "ns/op",
                         "M op/s", "holdfast is", judging == Judging::on ? "target" : ""));
  std::size_t threads = 0;
  for (const Row& row : rows) {
    const Speed& speed = std::get<Speed>(row.figure);
    print_line(fmt::format("  {:>7}  {:<10} {:>9.1f} {:>9.2f} {:>12}   {}",
                           row.threads == threads ? "" : fmt::to_string(row.threads), row.contender,
                           speed.nanoseconds(), speed.per_second / 1e6, describe_speedup(row, rows),
                           verdicts_on(row, rows, judging)));
    threads = row.threads;
  }
}

void print_memory(std::span<const Row> rows, Judging judging) {
  print_line(fmt::format("  {:<12} {:<10} {:>11} {:>12}   {}", "structure", "contender",
                         "held B/key", "after B/key", judging == Judging::on ? "target" : ""));
  std::string_view structure;
  for (const Row& row : rows) {
    const Memory& memory = std::get<Memory>(row.figure);
    print_line(fmt::format("  {:<12} {:<10} {:>11.1f} {:>12.2f}   {}",
                           memory.structure == structure ? "" : memory.structure, row.contender,
                           memory.held, memory.after, verdicts_on(row, rows, judging)));
    structure = memory.structure;
  }
}

std::string describe_bar(const Histogram::Bar& bar) {
  if (bar.up_to == std::chrono::nanoseconds::max()) return "longer";
  return fmt::format("≤ {} ns", bar.up_to.count());
}

// Each line is for twice the time of the line before it.
void print_histogram(const Histogram& histogram) {
  constexpr std::size_t kWidth = 50;
  std::vector<Histogram::Bar> lines;
  for (const Histogram::Bar& bar : histogram.bars) {
    if (lines.empty() || bar.up_to > lines.back().up_to) {
      const auto doubled = lines.empty() ? bar.up_to : 2 * lines.back().up_to;
      lines.push_back({.up_to = std::max(bar.up_to, doubled), .count = 0});
    }
    lines.back().count += bar.count;
  }
  const std::size_t most = std::ranges::max(lines, {}, &Histogram::Bar::count).count;
  for (const Histogram::Bar& line : lines) {
    const std::size_t width = most == 0 ? 0 : (line.count * kWidth + most - 1) / most;
    print_line(fmt::format("  {:>10}  {:>8}  {:#<{}}", describe_bar(line), line.count, "", width));
  }
}

void print_sweeps(std::span<const Row> rows, Judging judging) {
  print_line(fmt::format("  {:<10} {:>9} {:>12}   {}", "contender", "ms", "holdfast is",
                         judging == Judging::on ? "target" : ""));
  for (const Row& row : rows) {
    const Sweep& sweep = std::get<Sweep>(row.figure);
    print_line(fmt::format("  {:<10} {:>9.1f} {:>12}   {}", row.contender, sweep.milliseconds,
                           describe_speedup(row, rows),
                           sweep.slices ? "" : verdicts_on(row, rows, judging)));
  }
  for (const Row& row : rows) {
    const auto& slices = std::get<Sweep>(row.figure).slices;
    if (!slices) continue;
    fmt::print("\n  how long a slice of {} holds a shard:\n", row.contender);
    print_histogram(*slices);
    print_line(fmt::format("  median {} ns, p99 {} ns, longest {} ns   {}",
                           slices->quantile(0.5).count(), slices->quantile(0.99).count(),
                           slices->longest.count(), verdicts_on(row, rows, judging)));
  }
}

}  // namespace

void print_table(const Workload& workload, std::span<const Row> rows, Judging judging) {
  fmt::print("{}  {}\n", workload.name, workload.title);
  struct Printer {
    std::span<const Row> rows;
    Judging judging;
    void operator()(const Speed&) const { print_speeds(rows, judging); }
    void operator()(const Memory&) const { print_memory(rows, judging); }
    void operator()(const Sweep&) const { print_sweeps(rows, judging); }
  };
  // The figures of a workload are all of one kind.
  std::visit(Printer{rows, judging}, rows.front().figure);
  fmt::print("\n");
  std::fflush(stdout);
}

void print_summary(std::span<const Row> rows) {
  std::size_t judged = 0;
  std::size_t reached = 0;
  for (const Target& target : targets()) {
    const auto verdict = judge(target, rows);
    if (!verdict) continue;
    ++judged;
    if (verdict->reached) ++reached;
  }
  fmt::print("{} of {} targets reached\n", reached, judged);
}

}  // namespace holdfast::bench
