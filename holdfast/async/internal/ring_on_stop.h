#pragma once

#include <holdfast/async/internal/operation.h>

namespace holdfast::async::internal {

// For std::stop_callback. Not a virtual call: it may come while the operation is being destroyed.
struct RingOnStop {
  Operation& operation;
  void operator()() const noexcept { operation.Operation::ring(); }
};

}  // namespace holdfast::async::internal
