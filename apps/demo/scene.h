#pragma once

#include <chrono>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

namespace holdfast::demo {

// Prints the title of a scene. A scene prints what it does, and exits with status 1 if a promise is
// broken.
inline void title(std::string_view text) { fmt::print("\n{}\n", text); }

inline void require(bool condition, std::string_view promise) {
  if (!condition) {
    fmt::print(stderr, "broken promise: {}\n", promise);
    std::exit(EXIT_FAILURE);
  }
}

inline double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// The scenes, in order.
void threads_contend_per_key();
void readers_share();
void an_urgent_waiter_goes_ahead();
void a_lease_expires();
void expired_leases_are_swept();

}  // namespace holdfast::demo
