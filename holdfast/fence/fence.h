#pragma once

#include <atomic>
#include <cstdint>

#include <holdfast/base/ids.h>

namespace holdfast::fence {

// The greatest fencing token that one resource has seen.
//
// Thread-safe, and never blocks: a token that was seen before costs one load, a newer one an atomic
// maximum. Lives in memory: after a restart, begin with the token that the resource has kept.
//
// Guaranteed: once a token was accepted, every smaller one is refused; an equal one is accepted.
// Not guaranteed: that nobody with a newer token comes between the check and what the caller does
// next. Where the resource does not order that by itself, take FenceGuard::enter.
//
//   Fence fence(token_of_last_write());
//   if (!fence.check(request.token)) return refuse(request);
class Fence {
 public:
  constexpr Fence() noexcept = default;
  constexpr explicit Fence(base::FencingToken newest) noexcept : newest_{newest.value()} {}
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  // Whether no newer token was seen; this one is seen now.
  [[nodiscard]] bool check(base::FencingToken token) noexcept {
    std::uint64_t seen = newest_.load(std::memory_order_acquire);
    while (seen < token.value()) {
      if (newest_.compare_exchange_weak(seen, token.value(), std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        return true;
      }
    }
    return seen == token.value();
  }

  // Zero if none was seen.
  [[nodiscard]] base::FencingToken newest() const noexcept {
    return base::FencingToken{newest_.load(std::memory_order_acquire)};
  }

 private:
  std::atomic<std::uint64_t> newest_{0};
};

}  // namespace holdfast::fence
