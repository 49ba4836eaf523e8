#include <holdfast/engines/redis/internal/batches.h>

#include <algorithm>

namespace holdfast::engines::redis::internal {

std::vector<Batch> split(std::span<const std::size_t> positions, std::size_t most) {
  std::vector<Batch> batches;
  while (!positions.empty()) {
    const auto part = positions.first(std::min(most, positions.size()));
    batches.emplace_back(part.begin(), part.end());
    positions = positions.subspan(part.size());
  }
  return batches;
}

std::vector<Batch> split_by_slot(std::span<const std::size_t> positions,
                                 std::span<const std::uint16_t> slots, std::size_t most) {
  Batch sorted(positions.begin(), positions.end());
  std::ranges::stable_sort(sorted, {}, [&](std::size_t position) { return slots[position]; });
  std::vector<Batch> batches;
  for (const std::size_t position : sorted) {
    const bool fits = !batches.empty() && batches.back().size() < most &&
                      slots[batches.back().front()] == slots[position];
    if (!fits) {
      batches.emplace_back();
    }
    batches.back().push_back(position);
  }
  return batches;
}

}  // namespace holdfast::engines::redis::internal
