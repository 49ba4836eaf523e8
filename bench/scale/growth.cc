#include <algorithm>
#include <cmath>

#include "bench/scale/growth.h"

namespace holdfast::bench_scale {

double log_log_slope(std::span<const Point> points) {
  double largest = 0;
  for (const Point& point : points) largest = std::max(largest, point.value);
  if (points.size() < 2 || largest <= 0) return 0;

  // A figure too small to be measured is taken as a thousandth of the largest: zero has no
  // logarithm.
  const auto x = [](const Point& point) { return std::log(point.size); };
  const auto y = [&](const Point& point) {
    return std::log(std::max(point.value, largest / 1000));
  };
  const auto count = static_cast<double>(points.size());
  double mean_x = 0;
  double mean_y = 0;
  for (const Point& point : points) {
    mean_x += x(point) / count;
    mean_y += y(point) / count;
  }
  double covariance = 0;
  double variance = 0;
  for (const Point& point : points) {
    covariance += (x(point) - mean_x) * (y(point) - mean_y);
    variance += (x(point) - mean_x) * (x(point) - mean_x);
  }
  return variance > 0 ? covariance / variance : 0;
}

std::string_view growth_class(double slope) {
  if (slope < 0.15) return "flat";
  if (slope < 0.5) return "logarithmic";
  if (slope < 1.3) return "linear";
  return "worse";
}

}  // namespace holdfast::bench_scale
