#pragma once

#include <algorithm>
#include <cstdint>

#include <holdfast/base/clock.h>

namespace holdfast::engines::redis::internal {

// The pause before the next attempt to connect: it doubles up to a bound, and a random
// part of it is used, so that the members of a fleet do not reconnect at the same
// moment.
//
// Pure: randomness comes in. Not thread-safe.
class Backoff {
 public:
  static constexpr base::Duration kFirst = std::chrono::milliseconds(20);
  static constexpr base::Duration kMost = std::chrono::seconds(1);

  // After an attempt that failed: between half of the pause and all of it.
  [[nodiscard]] base::Duration next(std::uint64_t random) noexcept {
    const base::Duration pause = pause_;
    pause_ = std::min(pause_ * 2, kMost);
    const auto half = static_cast<std::uint64_t>(pause.count()) / 2;
    return base::Duration(half + (random % (half + 1)));
  }

  // After one that succeeded.
  void reset() noexcept { pause_ = kFirst; }

 private:
  base::Duration pause_ = kFirst;
};

}  // namespace holdfast::engines::redis::internal
