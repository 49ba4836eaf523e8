#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "bench/scale/growth.h"

namespace holdfast::bench_scale {

// A row as a page shows it.
struct PageRow {
  std::string name;
  std::string figure;  // what is measured, and its unit
  std::string size;    // what the sizes count
  std::string growth;
};

// Returns the row as a line of a table in Markdown, which has columns for four sizes.
[[nodiscard]] std::string to_markdown(const PageRow& row, std::span<const Point> points);

// Replaces the line of this row in the text of a page: the one whose first cell is its name. Throws
// std::invalid_argument if there is none.
[[nodiscard]] std::string with_row(const std::string& page, const PageRow& row,
                                   std::span<const Point> points);

// Does so in a file. Throws std::runtime_error if it cannot.
void write_row(const std::filesystem::path& page, const PageRow& row,
               std::span<const Point> points);

}  // namespace holdfast::bench_scale
