#pragma once

#include <chrono>

#include <holdfast/store/hit.h>

namespace holdfast::store {

// Returns a request for LeaseStore::hit to forget the hits that count under a name, in a window of
// either kind: a hit of none, with a limit of none. The answer says how many there were.
[[nodiscard]] inline Hit forget_hits() {
  return {.limit = 0, .period = std::chrono::seconds(1), .count = 0};
}

// Returns whether the request is one to forget.
[[nodiscard]] inline bool forgets(const Hit& hit) noexcept {
  return hit.limit == 0 && hit.count == 0;
}

}  // namespace holdfast::store
