#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/scale/svg.h"

namespace holdfast::bench_scale {

namespace {

constexpr double kWidth = 360;
constexpr double kHeight = 200;
constexpr double kLeft = 30;
constexpr double kRight = 40;
constexpr double kTop = 60;
constexpr double kBottom = 36;

// One axis: decades to pixels.
class Axis {
 public:
  Axis(double least, double most, double begin, double end)
      : least_(std::log10(least)),
        span_(std::max(std::log10(most) - std::log10(least), 1e-9)),
        begin_(begin),
        end_(end) {}

  [[nodiscard]] double at(double value) const {
    return begin_ + (std::log10(value) - least_) / span_ * (end_ - begin_);
  }

 private:
  double least_;
  double span_;
  double begin_;
  double end_;
};

// The text of a plot may name anything; SVG reserves these.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string short_number(double value) {
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude < 100) return fmt::format("{:.3g}", value);
  const auto digits = std::to_string(std::llround(value));
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && digits[i - 1] != '-' && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string to_svg(const Plot& plot, std::span<const Point> points) {
  double largest = 0;
  double smallest = 0;
  for (const Point& point : points) {
    largest = std::max(largest, point.value);
    if (point.value > 0) smallest = smallest > 0 ? std::min(smallest, point.value) : point.value;
  }
  if (points.empty() || largest <= 0) largest = smallest = 1;
  // At least three decades, so that a flat figure looks flat.
  const double middle = std::sqrt(largest * smallest);
  const double spread = std::max(std::sqrt(largest / smallest), std::sqrt(1000.0)) * 1.2;
  const Axis across(points.empty() ? 1 : points.front().size,
                    points.empty() ? 10 : points.back().size, kLeft, kWidth - kRight);
  const Axis up(middle / spread, middle * spread, kHeight - kBottom, kTop);

  std::string line;
  std::string marks;
  for (const Point& point : points) {
    const double x = across.at(point.size);
    const double y = up.at(std::max(point.value, smallest));
    line += fmt::format("{:.1f},{:.1f} ", x, y);
    marks += fmt::format(
        "  <circle cx='{0:.1f}' cy='{1:.1f}' r='3' fill='#0969da'/>\n"
        "  <text x='{0:.1f}' y='{2:.1f}' text-anchor='middle'>{3}</text>\n"
        "  <text x='{0:.1f}' y='{4:.1f}' text-anchor='middle' fill='#57606a'>{5}</text>\n",
        x, y, y - 8, short_number(point.value), kHeight - kBottom + 16, short_number(point.size));
  }
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}'\n"
      "     font-family='sans-serif' font-size='11'>\n"
      "  <rect width='{0}' height='{1}' fill='#ffffff'/>\n"
      "  <text x='10' y='18' font-weight='bold'>{2}</text>\n"
      "  <text x='10' y='34' fill='#57606a'>{3} by {4}: {5}</text>\n"
      "  <line x1='{6}' y1='{7}' x2='{8}' y2='{7}' stroke='#d0d7de'/>\n"
      "  <polyline points='{9}' fill='none' stroke='#0969da' stroke-width='1.5'/>\n"
      "{10}</svg>\n",
      kWidth, kHeight, escaped(plot.title), escaped(plot.unit), escaped(plot.size),
      escaped(plot.growth), kLeft - 15, kHeight - kBottom, kWidth - kRight + 15, line, marks);
}

void write_svg(const std::filesystem::path& file, const Plot& plot, std::span<const Point> points) {
  std::ofstream out(file);
  out << to_svg(plot, points);
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace holdfast::bench_scale
