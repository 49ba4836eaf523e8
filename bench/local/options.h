#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

#include "bench/local/measure.h"

namespace holdfast::bench {

inline constexpr std::size_t kMillion = 1'000'000;

enum class Format { table, json };

struct Options {
  Format format = Format::table;
  std::vector<std::string> only;  // names of workloads; empty for all
  Seconds seconds{0.2};
  std::size_t rounds = 7;
  std::size_t keys = kMillion;
};

// Returns the options, or the exit status of a program that is done: it printed the help, or an
// error.
std::expected<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace holdfast::bench
