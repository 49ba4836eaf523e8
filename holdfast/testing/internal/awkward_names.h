#pragma once

#include <string>
#include <vector>

namespace holdfast::testing::internal {

// Returns names that differ pairwise, each difficult for something: C strings, SQL, key patterns,
// hash tags, shells, paths, case folding, normalisation, trimming, number parsing.
[[nodiscard]] std::vector<std::string> awkward_names();

}  // namespace holdfast::testing::internal
