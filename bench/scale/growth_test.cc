#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "bench/scale/growth.h"

namespace holdfast::bench_scale {
namespace {

std::string_view class_of(const std::function<double(double)>& figure) {
  std::vector<Point> points;
  for (const double size : {1e1, 1e2, 1e3}) points.push_back({size, figure(size)});
  return growth_class(log_log_slope(points));
}

TEST(Growth, IsNamedByItsCurve) {
  EXPECT_EQ(class_of([](double) { return 7.0; }), "flat");
  EXPECT_EQ(class_of([](double n) { return 1e6 / n; }), "flat");
  EXPECT_EQ(class_of([](double n) { return std::log(n); }), "logarithmic");
  EXPECT_EQ(class_of([](double n) { return 3 * n; }), "linear");
  EXPECT_EQ(class_of([](double n) { return n * n; }), "worse");
}

TEST(Growth, IsFlatWhereNothingWasMeasured) {
  EXPECT_EQ(class_of([](double) { return 0.0; }), "flat");
  EXPECT_EQ(growth_class(log_log_slope({})), "flat");
}

TEST(Growth, OfAFigureThatStartsAtZeroIsSeen) {
  EXPECT_EQ(class_of([](double n) { return n < 20 ? 0.0 : n; }), "worse");
}

}  // namespace
}  // namespace holdfast::bench_scale
