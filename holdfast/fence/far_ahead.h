#pragma once

#include <chrono>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence {

// The time by which a token may be ahead of the wall clock. Stores mint tokens from their clock, in
// microseconds: no token that they have minted is further ahead, unless a clock is wrong by as
// much.
inline constexpr std::chrono::days kFurthestAhead{366};

// Returns whether the token is more than kFurthestAhead ahead of this machine's wall clock. If a
// fence remembered such a token, which somebody has made up, it would reject every holder for ever.
[[nodiscard]] bool is_far_ahead(base::FencingToken token) noexcept;

// Returns the error of every guard for a token that is far ahead: ErrorCode::invalid_argument.
[[nodiscard]] base::Result<void> check_not_far_ahead(base::FencingToken token);

}  // namespace holdfast::fence
