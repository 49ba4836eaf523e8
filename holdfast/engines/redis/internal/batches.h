#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Splits the names of one request into the scripts that carry them. Pure.
namespace holdfast::engines::redis::internal {

// The positions, in the request, of the names that one script serves.
using Batch = std::vector<std::size_t>;

// Returns batches of at most `most` positions, in the order of `positions`.
[[nodiscard]] std::vector<Batch> split(std::span<const std::size_t> positions, std::size_t most);

// Returns the same, with batches whose names are all in one slot of a cluster. `slots` has the slot
// of every position.
[[nodiscard]] std::vector<Batch> split_by_slot(std::span<const std::size_t> positions,
                                               std::span<const std::uint16_t> slots,
                                               std::size_t most);

}  // namespace holdfast::engines::redis::internal
