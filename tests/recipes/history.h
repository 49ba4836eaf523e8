#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <holdfast/base/clock.h>

namespace holdfast::tests {

// A hit that was allowed: asked for not before the one, answered not after the other. When the
// store counted it lies in between.
struct RecordedHit {
  base::TimePoint asked;
  base::TimePoint answered;
};

// The most hits that were certainly counted within less than one period.
inline std::size_t most_in_one_period(std::span<const RecordedHit> hits, base::Duration period) {
  std::vector<RecordedHit> sorted(hits.begin(), hits.end());
  std::ranges::sort(sorted, {}, &RecordedHit::asked);
  std::size_t most = 0;
  for (std::size_t first = 0; first < sorted.size(); ++first) {
    const base::TimePoint end = sorted[first].asked + period;
    std::size_t inside = 0;
    for (std::size_t i = first; i < sorted.size() && sorted[i].asked < end; ++i) {
      inside += sorted[i].answered < end ? 1U : 0U;
    }
    most = std::max(most, inside);
  }
  return most;
}

}  // namespace holdfast::tests
