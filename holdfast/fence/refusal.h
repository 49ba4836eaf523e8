#pragma once

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence {

// Returns the error of every guard that rejects `token` because `newest` was seen: ErrorCode::lost.
// Use it when you query a database yourself, so that your callers get the same error.
[[nodiscard]] base::Error refusal(base::FencingToken token, base::FencingToken newest);

}  // namespace holdfast::fence
