#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <holdfast/base/deadline.h>
#include <holdfast/base/mutex.h>

namespace holdfast::objects::internal {

// The stop lock of a host: many calls are inside, until `close` lets no more in and waits for them.
//
// Thread-safe. Each thread counts its calls in its own place, so that threads do not share a cache
// line. Either a caller that enters sees that the gate is closed, or `close` sees the caller
// inside: both write first and read then, sequentially consistent.
class CallGate {
 public:
  // The place where a caller was counted; it leaves there.
  using Place = std::atomic<std::int64_t>;

  // Returns null if the gate is closed.
  [[nodiscard]] Place* enter() noexcept {
    Place& place = places_[thread_place() % places_.size()].inside;
    place.fetch_add(1, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst)) [[unlikely]] {
      leave(place);
      return nullptr;
    }
    return &place;
  }
  void leave(Place& place) noexcept {
    place.fetch_sub(1, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst)) [[unlikely]] {
      tell_closer();
    }
  }

  // Lets no caller in from now on, and waits until all have left; returns false if they have not by
  // the deadline, of base::steady_clock(). The gate stays closed.
  [[nodiscard]] bool close(base::Deadline deadline);

  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  // Returns how many calls are inside; exact once the gate is closed.
  [[nodiscard]] std::int64_t inside() const noexcept;

 private:
  struct alignas(64) Padded {
    Place inside = 0;
  };

  static std::uint32_t thread_place() noexcept;
  void tell_closer() noexcept;

  std::array<Padded, 64> places_{};
  alignas(64) std::atomic<bool> closed_ = false;
  base::Mutex mutex_;  // between the last caller that leaves and the closer that waits for it
  base::ConditionVariable left_;
};

}  // namespace holdfast::objects::internal
