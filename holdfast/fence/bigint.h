#pragma once

#include <cstdint>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence {

// The token as SQL and BSON keep it, in 63 bits; invalid_argument for a greater one. Holdfast's
// stores mint none that is greater.
[[nodiscard]] base::Result<std::int64_t> to_bigint(base::FencingToken token);

}  // namespace holdfast::fence
