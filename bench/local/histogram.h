#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace holdfast::bench {

// A histogram of times.
struct Histogram {
  struct Bar {
    std::chrono::nanoseconds up_to;
    std::size_t count;
  };

  std::vector<Bar> bars;  // in ascending order
  std::chrono::nanoseconds longest{0};

  [[nodiscard]] std::size_t count() const;
  // Returns the time that this share did not exceed, as exactly as the bars allow.
  [[nodiscard]] std::chrono::nanoseconds quantile(double share) const;
  // Adds the counts of another histogram with the same bars; an empty one takes over its bars.
  void merge(const Histogram& other);
};

}  // namespace holdfast::bench
