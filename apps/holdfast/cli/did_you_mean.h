#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

// Returns ": did you mean run?" for the known word that differs least from `word`, or nothing if
// none is close. A swap of two neighbours counts as one difference.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& known);

}  // namespace holdfast::cli
