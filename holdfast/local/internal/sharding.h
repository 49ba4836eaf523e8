#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::local::internal {

// Any number of shards has an index of no more bits.
inline constexpr unsigned kMostShardBits = 16;

// The top bits of a hash choose the shard, the low ones the bucket in it.
constexpr std::size_t shard_index(std::uint32_t hash, unsigned shard_bits) noexcept {
  return static_cast<std::size_t>(std::uint64_t{hash} >> (32U - shard_bits));
}

}  // namespace holdfast::local::internal
