#pragma once

#include <span>
#include <string_view>

namespace holdfast::bench_scale {

// A figure at one size.
struct Point {
  double size;
  double value;
};

// Returns the slope of the least-squares line through the points on logarithmic axes: 0 for a
// figure that does not depend on the size, 1 for one in proportion to it.
[[nodiscard]] double log_log_slope(std::span<const Point> points);

// Returns "flat" (slope below 0.15), "logarithmic" (below 0.5), "linear" (below 1.3) or "worse".
[[nodiscard]] std::string_view growth_class(double slope);

}  // namespace holdfast::bench_scale
