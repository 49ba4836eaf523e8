#pragma once

#include <atomic>
#include <cstdint>

#include <holdfast/base/ids.h>
#include <holdfast/fence/far_ahead.h>

namespace holdfast::fence {

// The greatest fencing token that one resource has seen.
//
// Thread-safe, and never blocks: a token that was seen before costs one load, a newer one a look at
// the wall clock and an atomic maximum. Lives in memory: after a restart, start with the token that
// the resource has stored.
//
// Guaranteed: once a token was accepted, every smaller one is rejected; an equal one is accepted.
// A token that no store can have minted yet (see far_ahead.h) is rejected, and not remembered.
// Not guaranteed: that no newer token is accepted between the check and what the caller does next.
// If the resource does not order that itself, use FenceGuard::enter.
//
//   Fence fence(token_of_last_write());
//   if (!fence.check(request.token)) return refuse(request);
class Fence {
 public:
  constexpr Fence() noexcept = default;
  constexpr explicit Fence(base::FencingToken newest) noexcept : newest_{newest.value()} {}
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  // Returns whether no newer token was seen and this one is not far ahead, and remembers it.
  [[nodiscard]] bool check(base::FencingToken token) noexcept {
    std::uint64_t seen = newest_.load(std::memory_order_acquire);
    if (seen < token.value() && is_far_ahead(token)) {
      return false;
    }
    while (seen < token.value()) {
      if (newest_.compare_exchange_weak(seen, token.value(), std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        return true;
      }
    }
    return seen == token.value();
  }

  // Returns the greatest token seen; zero if there was none.
  [[nodiscard]] base::FencingToken newest() const noexcept {
    return base::FencingToken{newest_.load(std::memory_order_acquire)};
  }

 private:
  std::atomic<std::uint64_t> newest_{0};
};

}  // namespace holdfast::fence
