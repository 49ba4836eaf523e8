#pragma once

#include <boost/system/error_code.hpp>

#include <holdfast/async/internal/key_waiter.h>

namespace holdfast::async::internal {

// Returns the error_code of an outcome; no error if the operation entered.
[[nodiscard]] boost::system::error_code to_error(KeyOutcome outcome);

}  // namespace holdfast::async::internal
