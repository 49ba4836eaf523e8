#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "bench/scale/growth.h"

namespace holdfast::bench_scale {

struct Plot {
  std::string title;
  std::string size;  // what the horizontal axis counts
  std::string unit;  // of the vertical axis
  std::string growth;
};

// Returns a small plot of the points on logarithmic axes, each labelled with its figure.
[[nodiscard]] std::string to_svg(const Plot& plot, std::span<const Point> points);

// Writes it to a file. Throws std::runtime_error if it cannot.
void write_svg(const std::filesystem::path& file, const Plot& plot, std::span<const Point> points);

// Returns a figure with three digits: "0.0123", "12.3", "12,300".
[[nodiscard]] std::string short_number(double value);

}  // namespace holdfast::bench_scale
