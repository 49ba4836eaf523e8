#pragma once

#include <holdfast/locks/steps/ringer.h>

namespace holdfast::async::internal {

// For std::stop_callback.
struct RingOnStop {
  locks::steps::Ringer& ringer;
  void operator()() const noexcept { ringer.ring(); }
};

}  // namespace holdfast::async::internal
