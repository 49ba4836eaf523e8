#pragma once

#include <boost/system/error_code.hpp>

#include <holdfast/async/internal/key_waiter.h>

namespace holdfast::async::internal {

// What an operation that ended so completes with; no error if it entered.
[[nodiscard]] boost::system::error_code to_error(KeyOutcome outcome);

}  // namespace holdfast::async::internal
