#pragma once

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence {

// The error of every guard that refuses `token` because `newest` was seen: ErrorCode::lost. For
// those who ask a database themselves, so that their callers see the same.
[[nodiscard]] base::Error refusal(base::FencingToken token, base::FencingToken newest);

}  // namespace holdfast::fence
