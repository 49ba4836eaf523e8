#include <tests/simulation/shrink.h>

#include <algorithm>
#include <vector>

namespace holdfast::simulation {

// Leaves out half of the faults, then a quarter, and so on down to single ones, until none of them
// can be left out.
std::set<FaultId> fewest_faults(const HistoryOptions& options, const Outcome& broken) {
  std::vector<FaultId> kept = broken.injected;
  const auto still_breaks = [&](const std::vector<FaultId>& faults) {
    HistoryOptions fewer = options;
    fewer.trace = nullptr;
    fewer.only.emplace(faults.begin(), faults.end());
    const Outcome outcome = play(fewer);
    return outcome.violation && outcome.violation->promise == broken.violation->promise;
  };
  std::size_t size = std::max<std::size_t>(kept.size() / 2, 1);
  for (bool is_less = true; is_less || size > 1;) {
    size = is_less ? size : size / 2;
    is_less = false;
    for (std::size_t begin = 0; begin < kept.size();) {
      std::vector<FaultId> fewer = kept;
      const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(begin);
      fewer.erase(first, first + static_cast<std::ptrdiff_t>(std::min(size, kept.size() - begin)));
      if (still_breaks(fewer)) {
        kept = std::move(fewer);
        is_less = true;
      } else {
        begin += size;
      }
    }
  }
  return {kept.begin(), kept.end()};
}

}  // namespace holdfast::simulation
