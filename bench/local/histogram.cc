#include <algorithm>

#include "bench/local/histogram.h"

namespace holdfast::bench {

std::size_t Histogram::count() const {
  std::size_t sum = 0;
  for (const Bar& bar : bars) sum += bar.count;
  return sum;
}

std::chrono::nanoseconds Histogram::quantile(double share) const {
  const double wanted = share * static_cast<double>(count());
  std::size_t seen = 0;
  for (const Bar& bar : bars) {
    seen += bar.count;
    if (static_cast<double>(seen) >= wanted) return std::min(bar.up_to, longest);
  }
  return longest;
}

void Histogram::merge(const Histogram& other) {
  if (bars.empty()) {
    *this = other;
    return;
  }
  for (std::size_t i = 0; i < bars.size(); ++i) bars[i].count += other.bars[i].count;
  longest = std::max(longest, other.longest);
}

}  // namespace holdfast::bench
