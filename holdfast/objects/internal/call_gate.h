#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <holdfast/base/deadline.h>

namespace holdfast::objects::internal {

// The stop lock of a host: many are inside at once, until somebody closes it and waits for them.
//
// Thread-safe. Those inside count at a place of their thread, so that they do not meet at one cache
// line. Either who enters sees that it is closed, or who closes sees them inside: both write first
// and read then, sequentially consistent.
class CallGate {
 public:
  // One who is inside leaves at this place.
  using Place = std::atomic<std::int64_t>;

  // Null: it is closed.
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

  // Lets nobody in from now on, and waits until all are out; false if they are not by the deadline,
  // of base::steady_clock(). It stays closed.
  [[nodiscard]] bool close(base::Deadline deadline);

  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  // Exact once it is closed.
  [[nodiscard]] std::int64_t inside() const noexcept;

 private:
  struct alignas(64) Padded {
    Place inside = 0;
  };

  static std::uint32_t thread_place() noexcept;
  void tell_closer() noexcept;

  std::array<Padded, 64> places_{};
  alignas(64) std::atomic<bool> closed_ = false;
  std::mutex mutex_;
  std::condition_variable left_;
};

}  // namespace holdfast::objects::internal
