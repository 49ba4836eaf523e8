#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::local::internal {

inline constexpr unsigned kShardBits = 6;
inline constexpr std::size_t kShards = std::size_t{1} << kShardBits;

// The top bits of a hash choose the shard, the low ones the bucket in it.
constexpr std::size_t shard_index(std::uint32_t hash) noexcept {
  return hash >> (32U - kShardBits);
}

}  // namespace holdfast::local::internal
