#pragma once

#include <random>
#include <string>
#include <vector>

namespace holdfast::fuzz {

// Returns a variation of one of the inputs, of which there is at least one: bits flipped, bytes
// replaced by awkward ones, pieces removed, repeated or taken from another input.
[[nodiscard]] std::string mutate(const std::vector<std::string>& inputs, std::mt19937_64& random);

}  // namespace holdfast::fuzz
