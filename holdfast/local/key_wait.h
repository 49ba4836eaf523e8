#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

namespace holdfast::local {

// Urgent waiters for a key are served before all normal ones, in their own order of arrival. A
// holder is never interrupted. A steady stream of urgent waiters can starve normal ones.
enum class Priority : std::uint8_t { normal, urgent };

// The limits of a wait. The default waits without bound.
//
//   auto guard = locks.lock("report", {.until = steady_clock::now() + 2s, .stop = token});
struct KeyWait {
  std::optional<std::chrono::steady_clock::time_point> until{};
  std::stop_token stop{};
  Priority priority = Priority::normal;
};

// The reason why a wait ended without the lock. Nothing is held and nothing is left behind.
enum class WaitEnd : std::uint8_t { timed_out, cancelled };

}  // namespace holdfast::local
