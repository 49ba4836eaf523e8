#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast::local::internal {

// The lock of one shard: held for nanoseconds, never across a wait or a call to other code.
// Satisfies BasicLockable. Spins briefly, then sleeps.
//
// An unlock is a plain store followed by a check for sleepers, without the fence that would order
// the two; it may therefore miss a thread that is just going to sleep. That thread checks again
// after `kNap`: a missed wake-up costs one nap, never more. In exchange an uncontended lock+unlock
// has one atomic read-modify-write instead of two.
//
// A lock can be closed for ever, by its holder: later callers of `lock_unless_closed` are refused.
class ShardLock {
 public:
  ShardLock() = default;
  ShardLock(const ShardLock&) = delete;
  ShardLock& operator=(const ShardLock&) = delete;

  // Locks a lock that is never closed.
  void lock() noexcept { static_cast<void>(lock_unless_closed()); }
  // Returns false, without the lock, if it is closed.
  [[nodiscard]] bool lock_unless_closed() noexcept {
    std::uint32_t expected = kFree;
    return word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                         std::memory_order_relaxed) ||
           lock_slow();
  }

  void unlock() noexcept {
    word_.store(kFree, std::memory_order_release);
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      wake_sleeper();
    }
  }

  // Unlocks and closes. Sleepers find out at the end of their nap.
  void close() noexcept { word_.store(kClosed, std::memory_order_release); }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kClosed = 2;

  bool lock_slow() noexcept;
  void wake_sleeper() noexcept;
  bool try_lock() noexcept;

  std::atomic<std::uint32_t> word_{kFree};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace holdfast::local::internal
