#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/scale/context.h"

namespace holdfast::bench_scale {

// A figure at one size, with what else is worth knowing of it.
struct Measured {
  double value = 0;
  std::string note{};
};

// One row: a figure, measured at sizes that are ten times each other where that makes sense.
struct Row {
  const char* name;   // "object-call"
  const char* about;  // what is measured
  const char* size;   // what the size counts, "objects"
  const char* unit;   // of the figure
  std::vector<std::size_t> sizes;
  std::vector<std::size_t> quick_sizes;  // of a smoke test
  Measured (*measure)(Context& context, std::size_t size);
};

// The rows, one function for each file.
[[nodiscard]] std::vector<Row> object_rows();
[[nodiscard]] std::vector<Row> key_lock_rows();
[[nodiscard]] std::vector<Row> coroutine_rows();
[[nodiscard]] std::vector<Row> keeper_rows();
[[nodiscard]] std::vector<Row> store_rows();
[[nodiscard]] std::vector<Row> file_rows();
[[nodiscard]] std::vector<Row> process_rows();

// Runs this program as another process of a row: `--as ROLE URL …`.
int run_as(const std::vector<std::string>& words);

}  // namespace holdfast::bench_scale
