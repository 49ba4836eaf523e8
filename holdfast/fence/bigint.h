#pragma once

#include <cstdint>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence {

// Converts the token to the 63 bits that SQL and BSON can store; invalid_argument for a greater
// one, and for one that is far ahead of the wall clock (far_ahead.h). Holdfast's stores mint no
// such token.
[[nodiscard]] base::Result<std::int64_t> to_bigint(base::FencingToken token);

}  // namespace holdfast::fence
