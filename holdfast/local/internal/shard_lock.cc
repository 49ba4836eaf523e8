#include <holdfast/local/internal/shard_lock.h>

#include <chrono>

#include <holdfast/local/internal/futex.h>

namespace holdfast::local::internal {

namespace {
// A few microseconds: longer than any shard is held, unless its holder was preempted.
constexpr int kSpins = 256;
constexpr std::chrono::milliseconds kNap{1};
}  // namespace

bool ShardLock::try_lock() noexcept {
  std::uint32_t expected = kFree;
  return word_.load(std::memory_order_relaxed) == kFree &&
         word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                       std::memory_order_relaxed);
}

bool ShardLock::lock_slow() noexcept {
  const auto is_closed = [this] { return word_.load(std::memory_order_acquire) == kClosed; };
  if (spinning_helps()) {
    for (int i = 0; i < kSpins && !is_closed(); ++i) {
      spin_pause();
      if (try_lock()) {
        return true;
      }
    }
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  bool locked = false;
  while (!locked && !is_closed()) {
    locked = try_lock();
    if (!locked) {
      futex_wait(word_, kHeld, std::chrono::steady_clock::now() + kNap);
    }
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return locked;
}

void ShardLock::wake_sleeper() noexcept { futex_wake_one(&word_); }

}  // namespace holdfast::local::internal
