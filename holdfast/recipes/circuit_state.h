#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::recipes {

// The state of a circuit breaker in front of a store.
enum class CircuitState : std::uint8_t {
  closed,     // normal: every call goes to the store
  open,       // too many failures: no call goes to the store until a pause is over
  half_open,  // one call is under way to find out whether the store answers again
};

// Returns the enumerator's name.
[[nodiscard]] constexpr std::string_view to_string(CircuitState state) noexcept {
  switch (state) {
    case CircuitState::closed: return "closed";
    case CircuitState::open: return "open";
    case CircuitState::half_open: return "half_open";
  }
  return "unrecognised";
}

}  // namespace holdfast::recipes
