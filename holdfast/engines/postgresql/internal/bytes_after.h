#pragma once

#include <optional>
#include <string>

namespace holdfast::engines::postgresql::internal {

// Returns the least bytes that are greater than all that begin with these; nothing if there are
// none.
inline std::optional<std::string> bytes_after(std::string bytes) {
  while (!bytes.empty() && bytes.back() == '\xff') {
    bytes.pop_back();
  }
  if (bytes.empty()) {
    return std::nullopt;
  }
  ++bytes.back();
  return bytes;
}

}  // namespace holdfast::engines::postgresql::internal
