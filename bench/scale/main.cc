// Measures how the cost of one operation grows with the number of objects, waiters, holders and
// names.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/scale/growth.h"
#include "bench/scale/page.h"
#include "bench/scale/row.h"
#include "bench/scale/svg.h"

namespace {

using namespace holdfast::bench_scale;

struct Options {
  std::vector<std::string> only;
  bool quick = false;
  std::string svg;   // the folder; empty for none
  std::string page;  // the file; empty for none
};

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const auto& group : {object_rows(), key_lock_rows(), coroutine_rows(), keeper_rows(),
                            store_rows(), file_rows(), process_rows()}) {
    rows.insert(rows.end(), group.begin(), group.end());
  }
  return rows;
}

void run(Context& context, const Row& row, const Options& options) {
  fmt::print("{:<20} {} ({})\n", row.name, row.about, row.unit);
  std::vector<Point> points;
  for (const std::size_t size : context.quick() ? row.quick_sizes : row.sizes) {
    const Measured measured = row.measure(context, size);
    points.push_back({static_cast<double>(size), measured.value});
    fmt::print("{:>20} {:<12} {:>12}  {}\n", short_number(points.back().size), row.size,
               short_number(measured.value), measured.note);
    std::cout.flush();
  }
  const double slope = log_log_slope(points);
  const std::string growth(growth_class(slope));
  const std::string with_slope = fmt::format("{} (slope {:.2f})", growth, slope);
  fmt::print("{:>20} {}\n\n", "growth", with_slope);
  if (!options.svg.empty()) {
    write_svg(std::filesystem::path(options.svg) / (std::string(row.name) + ".svg"),
              {.title = row.about, .size = row.size, .unit = row.unit, .growth = with_slope},
              points);
  }
  if (!options.page.empty()) {
    write_row(options.page,
              {.name = row.name,
               .figure = fmt::format("{}, {}", row.about, row.unit),
               .size = row.size,
               .growth = growth},
              points);
  }
}

int run(const Options& options, const std::vector<Row>& rows) {
  if (!options.svg.empty()) std::filesystem::create_directories(options.svg);
  Context context(options.quick);
  for (const Row& row : rows) {
    if (options.only.empty() || std::ranges::find(options.only, row.name) != options.only.end()) {
      run(context, row, options);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Row> rows = all_rows();
  CLI::App app{
      "How the cost of one operation grows with the number of objects, waiters, holders\n"
      "and names. The growth of a row is the slope of its figures on logarithmic axes:\n"
      "below 0.15 flat, below 0.5 logarithmic, below 1.3 linear, otherwise worse."};
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  Options options;
  app.add_option("--only", options.only, "Only these rows, such as object-call,keeper")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_flag("--quick", options.quick, "Small sizes: shows that it runs, measures nothing");
  app.add_option("--svg", options.svg, "Write a plot of each row to this folder");
  app.add_option("--page", options.page,
                 "Replace the rows of a page, such as docs/performance.md, by these figures");
  std::vector<std::string> role;
  app.add_option("--as", role)->expected(1, 3)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    return role.empty() ? run(options, rows) : run_as(role);
  } catch (const std::exception& error) {
    std::cerr << "bench_scale: " << error.what() << '\n';
    return 1;
  }
}
