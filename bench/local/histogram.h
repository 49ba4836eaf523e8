#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace holdfast::bench {

// How often something took how long.
struct Histogram {
  struct Bar {
    std::chrono::nanoseconds up_to;
    std::size_t count;
  };

  std::vector<Bar> bars;  // in ascending order
  std::chrono::nanoseconds longest{0};

  [[nodiscard]] std::size_t count() const;
  // The time that this share did not exceed, as exactly as the bars tell.
  [[nodiscard]] std::chrono::nanoseconds quantile(double share) const;
  // Adds what another one with the same bars has counted; an empty one takes its bars.
  void merge(const Histogram& other);
};

}  // namespace holdfast::bench
