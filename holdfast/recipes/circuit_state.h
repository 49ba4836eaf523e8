#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::recipes {

// How a store that may fail is being treated.
enum class CircuitState : std::uint8_t {
  closed,     // normal: every call goes to the store
  open,       // it failed too often: no call goes there until a pause is over
  half_open,  // one call is under way to see whether it is back
};

// The enumerator's own spelling.
[[nodiscard]] constexpr std::string_view to_string(CircuitState state) noexcept {
  switch (state) {
    case CircuitState::closed: return "closed";
    case CircuitState::open: return "open";
    case CircuitState::half_open: return "half_open";
  }
  return "unrecognised";
}

}  // namespace holdfast::recipes
