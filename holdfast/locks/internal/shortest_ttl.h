#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <holdfast/base/clock.h>

namespace holdfast::locks::internal {

// Knows about how long the shortest of many ttls is, at a constant cost however many there are.
// Not thread-safe.
class ShortestTtl {
 public:
  void add(base::Duration ttl) noexcept { ++counts_[class_of(ttl)]; }
  // Removes a ttl that was added.
  void remove(base::Duration ttl) noexcept { --counts_[class_of(ttl)]; }

  // Returns at most the shortest ttl, and more than half of it. Duration::max() if there is none.
  [[nodiscard]] base::Duration value() const noexcept {
    const auto shortest = std::ranges::find_if(counts_, [](std::size_t n) { return n > 0; });
    return shortest == counts_.end()
               ? base::Duration::max()
               : base::Duration(std::int64_t{1} << (shortest - counts_.begin()));
  }

 private:
  static std::size_t class_of(base::Duration ttl) noexcept {
    const auto count = std::max<base::Duration::rep>(ttl.count(), 1);
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(count)) - 1);
  }

  std::array<std::size_t, 63> counts_{};  // how many ttls have this power of two as their highest
};

}  // namespace holdfast::locks::internal
