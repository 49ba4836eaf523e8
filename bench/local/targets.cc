#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bench/local/contenders/holdfast.h"
#include "bench/local/targets.h"

namespace holdfast::bench {

namespace {

const Row* find(std::span<const Row> rows, std::string_view workload, std::size_t threads,
                std::string_view contender) {
  const auto found = std::ranges::find_if(rows, [&](const Row& row) {
    return row.workload == workload && row.threads == threads && row.contender == contender;
  });
  return found == rows.end() ? nullptr : &*found;
}

const Memory* find_memory(std::span<const Row> rows, std::string_view structure) {
  for (const Row& row : rows) {
    const Memory* const memory = std::get_if<Memory>(&row.figure);
    if (memory != nullptr && memory->structure == structure &&
        row.contender == HoldfastKeyLock::kName) {
      return memory;
    }
  }
  return nullptr;
}

std::optional<double> measured(const Target& target, std::span<const Row> rows) {
  switch (target.measure) {
    case Measure::speedup: {
      const Row* const row = find(rows, target.workload, target.threads, target.against);
      return row == nullptr ? std::nullopt : speedup(*row, rows);
    }
    case Measure::bytes_held:
    case Measure::bytes_after: {
      const Memory* const memory = find_memory(rows, target.against);
      if (memory == nullptr) return std::nullopt;
      return target.measure == Measure::bytes_held ? memory->held : memory->after;
    }
    case Measure::slice_median: {
      const Row* const row = find(rows, target.workload, target.threads, target.against);
      const Sweep* const sweep = row == nullptr ? nullptr : std::get_if<Sweep>(&row->figure);
      if (sweep == nullptr || !sweep->slices) return std::nullopt;
      return static_cast<double>(sweep->slices->quantile(0.5).count());
    }
  }
  return std::nullopt;
}

std::string describe_bound(Measure measure, double bound) {
  switch (measure) {
    case Measure::speedup: return fmt::format("≥ {}×", bound);
    case Measure::bytes_held: return fmt::format("held ≤ {} B", bound);
    case Measure::bytes_after: return fmt::format("after ≤ {} B", bound);
    case Measure::slice_median: return fmt::format("≤ {} ns", bound);
  }
  return {};
}

}  // namespace

std::span<const Target> targets() {
  using enum Measure;
  static constexpr auto kTargets = std::to_array<Target>({
      {"W1", 1, "floor", speedup, 0.5},    {"W1", 1, "tbb", speedup, 3},
      {"W1", 1, "map", speedup, 5},        {"W1", 2, "tbb", speedup, 2.5},
      {"W1", 2, "map", speedup, 7},        {"W2", 2, "tbb", speedup, 2},
      {"W2", 2, "map", speedup, 2.5},      {"W2", 8, "tbb", speedup, 2},
      {"W2", 8, "map", speedup, 2.5},      {"W3", 2, "tbb", speedup, 8, 15},
      {"W3", 8, "tbb", speedup, 8, 15},    {"W4", 2, "tbb", speedup, 2.2},
      {"W5", 1, "map", speedup, 3.5},      {"W5", 1, "tbb", speedup, 4},
      {"W5", 1, "libcuckoo", speedup, 8},  {"W6", 1, kKeyLock, bytes_held, 64, 49},
      {"W6", 1, kKeyLock, bytes_after, 1}, {"W6", 1, kLeaseTable, bytes_held, 90},
      {"W7", 1, "libcuckoo", speedup, 3},  {"W7", 1, "holdfast", slice_median, 5'000},
  });
  return kTargets;
}

std::optional<double> speedup(const Row& contender, std::span<const Row> rows) {
  const Row* const ours = find(rows, contender.workload, contender.threads, HoldfastKeyLock::kName);
  if (ours == nullptr || ours->contender == contender.contender) return std::nullopt;
  if (const Speed* const speed = std::get_if<Speed>(&contender.figure)) {
    return std::get<Speed>(ours->figure).per_second / speed->per_second;
  }
  if (const Sweep* const sweep = std::get_if<Sweep>(&contender.figure)) {
    return sweep->milliseconds / std::get<Sweep>(ours->figure).milliseconds;
  }
  return std::nullopt;
}

std::optional<Verdict> judge(const Target& target, std::span<const Row> rows) {
  const std::optional<double> value = measured(target, rows);
  if (!value) return std::nullopt;
  const auto meets = [&](double bound) {
    return target.measure == Measure::speedup ? *value >= bound : *value <= bound;
  };
  return Verdict{.value = *value,
                 .reached = meets(target.bound),
                 .stretch_reached = target.stretch != 0 && meets(target.stretch)};
}

std::string describe(const Target& target, const Verdict& verdict) {
  const auto word = [](bool reached) { return reached ? "reached" : "NOT reached"; };
  std::string text =
      fmt::format("{}: {}", describe_bound(target.measure, target.bound), word(verdict.reached));
  if (target.stretch != 0) {
    text += fmt::format(" (stretch {}: {})", target.stretch, word(verdict.stretch_reached));
  }
  return text;
}

}  // namespace holdfast::bench
