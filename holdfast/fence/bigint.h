#pragma once

#include <cstdint>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence {

// Converts the token to the 63 bits that SQL and BSON can store; invalid_argument for a greater
// one. Holdfast's stores mint no greater token.
[[nodiscard]] base::Result<std::int64_t> to_bigint(base::FencingToken token);

}  // namespace holdfast::fence
