#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/scale/page.h"
#include "bench/scale/svg.h"

namespace holdfast::bench_scale {

std::string to_markdown(const PageRow& row, std::span<const Point> points) {
  constexpr std::size_t kColumns = 4;
  std::string line = fmt::format("| `{}` | {} |", row.name, row.figure);
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (i < points.size()) {
      line += fmt::format(" {}{}: {} |", short_number(points[i].size), i == 0 ? " " + row.size : "",
                          short_number(points[i].value));
    } else {
      line += " |";
    }
  }
  return line + fmt::format(" {} |", row.growth);
}

std::string with_row(const std::string& page, const PageRow& row, std::span<const Point> points) {
  const std::size_t begin = page.find(fmt::format("\n| `{}` |", row.name));
  if (begin == std::string::npos) throw std::invalid_argument("the page has no row " + row.name);
  const std::size_t end = std::min(page.find('\n', begin + 1), page.size());
  return page.substr(0, begin + 1) + to_markdown(row, points) + page.substr(end);
}

void write_row(const std::filesystem::path& page, const PageRow& row,
               std::span<const Point> points) {
  std::ifstream in(page);
  if (!in) throw std::runtime_error("cannot read " + page.string());
  const std::string before(std::istreambuf_iterator<char>(in), {});
  const std::string after = with_row(before, row, points);
  std::ofstream out(page);
  out << after;
  if (!out.flush()) throw std::runtime_error("cannot write " + page.string());
}

}  // namespace holdfast::bench_scale
