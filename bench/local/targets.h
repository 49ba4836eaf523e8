#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/local/row.h"

namespace holdfast::bench {

enum class Measure {
  speedup,       // how many times as fast as the contender Holdfast is
  bytes_held,    // Holdfast's, per key
  bytes_after,   // Holdfast's, per key
  slice_median,  // of Holdfast's sweep, in nanoseconds
};

// A target of Holdfast in one run, with a million keys.
struct Target {
  std::string_view workload;
  std::size_t threads;
  std::string_view against;  // the contender, or the structure whose bytes are counted
  Measure measure;
  double bound;        // at least this speedup; at most this much of the rest
  double stretch = 0;  // worth trying for; 0 for none
};

std::span<const Target> targets();

struct Verdict {
  double value;
  bool reached;
  bool stretch_reached;
};

// Returns nullopt if the rows do not contain the figure.
std::optional<Verdict> judge(const Target& target, std::span<const Row> rows);

// Returns how many times as fast as this contender Holdfast is; nullopt for its own row, and for
// memory.
std::optional<double> speedup(const Row& contender, std::span<const Row> rows);

// Returns "≥ 8×: reached, stretch 15×: not reached".
std::string describe(const Target& target, const Verdict& verdict);

}  // namespace holdfast::bench
