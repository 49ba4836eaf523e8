#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <holdfast/base/clock.h>

namespace holdfast::store {

// One property of a server, and what it means for the promises: what an engine's diagnosis finds.
struct Finding {
  enum class Level : std::uint8_t {
    good,
    warning,  // works, but promises less
    bad,      // locks may be given to two at once, or cannot be given at all
  };

  std::string name;  // stable, for programs: version, persistence, …
  Level level = Level::good;
  std::string detail;  // for people; says what to do where something is wrong

  friend bool operator==(const Finding&, const Finding&) = default;
};

// The time by which a server's clock is ahead of ours.
[[nodiscard]] Finding judge_clock(base::Duration ahead);

}  // namespace holdfast::store
