#pragma once

#include <cstddef>
#include <cstdint>

#include <holdfast/base/ttl.h>

namespace holdfast::store {

// The hits that count against the limit.
enum class Window : std::uint8_t {
  // Those since the first hit of a window that ends a period later; then the next one begins. Two
  // bursts may meet at its edge: up to twice the limit within one period.
  fixed,
  // Those of the last period, at every moment: never more than the limit in any interval that is
  // as long as the period.
  sliding,
};

// A request to be counted. The window belongs to the name; the limit is the caller's.
//
// A hit counts for the period that came with it: those of a fixed window for the period of its
// first. A sliding window with a limit of up to `kSteps` is exact. Beyond, hits within a `kSteps`th
// of the period of each other may count until the last of them is a period old: refused by that
// much too long, never allowed too early, and bounded in memory.
struct Hit {
  static constexpr std::uint32_t kSteps = 256;

  std::uint32_t limit = 1;
  base::Ttl period;  // within the bounds of a lease's ttl
  Window window = Window::fixed;
  // The number of hits at once, all or none; no more than the limit. Zero: only look, and say
  // whether one more would be allowed.
  std::uint32_t count = 1;
};

}  // namespace holdfast::store
