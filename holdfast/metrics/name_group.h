#pragma once

#include <string_view>

namespace holdfast::metrics {

// Returns the part of a lock's name before its first `/` or `:`, at most 64 bytes of it: `job` of
// `job/nightly`, the whole name where there is neither.
[[nodiscard]] std::string_view name_group(std::string_view name) noexcept;

}  // namespace holdfast::metrics
