#pragma once

#include <cstddef>
#include <string>

namespace holdfast::objects::internal {

// Returns the keys of a map for a message that lists what exists: "a, b, c", cut after some;
// "none".
template <class Map>
std::string name_list(const Map& map) {
  constexpr std::size_t kMost = 30;
  std::string text;
  std::size_t count = 0;
  for (const auto& [name, value] : map) {
    if (++count > kMost) {
      return text + ", … (" + std::to_string(map.size()) + ")";
    }
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace holdfast::objects::internal
