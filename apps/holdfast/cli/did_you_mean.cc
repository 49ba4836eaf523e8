#include <algorithm>
#include <cstddef>

#include "apps/holdfast/cli/did_you_mean.h"

namespace holdfast::cli {

namespace {

// Returns how many insertions, deletions, replacements and swaps of neighbours lead from one to the
// other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> rows(from.size() + 1,
                                             std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const std::size_t differs = from[i - 1] == to[j - 1] ? 0 : 1;
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + differs});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows.back().back();
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 40;
  // A third of the letters may differ, and one of two, but not all.
  std::size_t least = std::min(std::max<std::size_t>(word.size() / 3, 1) + 1, word.size());
  const std::string* closest = nullptr;
  for (const std::string& candidate : known) {
    if (const std::size_t differences = word.size() > kLongest ? least : distance(word, candidate);
        differences < least) {
      least = differences;
      closest = &candidate;
    }
  }
  return closest != nullptr ? ": did you mean " + *closest + "?" : "";
}

}  // namespace holdfast::cli
