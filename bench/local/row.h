#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/local/histogram.h"

namespace holdfast::bench {

// For all threads together, so the time is that between two operations of the whole process.
struct Speed {
  double per_second;

  [[nodiscard]] double nanoseconds() const { return 1e9 / per_second; }
};

inline constexpr std::string_view kKeyLock = "key_lock";
inline constexpr std::string_view kLeaseTable = "lease_table";

struct Memory {
  std::string_view structure;  // kKeyLock or kLeaseTable
  double held;                 // bytes per key while all are held
  double after;                // bytes per key when all were released
};

struct Sweep {
  double milliseconds;
  // The delay of a caller by each hold of a lock by the sweep; of Holdfast only.
  std::optional<Histogram> slices;
};

// One figure of one contender.
struct Row {
  std::string_view workload;
  std::size_t threads;
  std::string_view contender;
  std::variant<Speed, Memory, Sweep> figure;
};

using Rows = std::vector<Row>;

}  // namespace holdfast::bench
