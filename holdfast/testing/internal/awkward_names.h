#pragma once

#include <string>
#include <vector>

namespace holdfast::testing::internal {

// Pairwise different, and each a trap for somebody: C strings, SQL, key patterns, hash tags,
// shells, paths, case folding, normalisation, trimming, number parsing.
[[nodiscard]] std::vector<std::string> awkward_names();

}  // namespace holdfast::testing::internal
