#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <shared_mutex>

#include <holdfast/local/internal/wait_counters.h>
#include <holdfast/local/key_stats.h>

namespace holdfast::local::internal {

// A std::shared_timed_mutex that counts. Thread-safe. What the holders write is apart from the
// mutex itself, but on no other stripe's cache line.
class alignas(64) StripeMutex {
 public:
  void lock() {
    if (!mutex_.try_lock()) {
      wait(waiting_exclusive_, [this] { return mutex_.lock(), true; });
    }
    enter();
  }
  bool try_lock() { return mutex_.try_lock() && enter(); }
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
    return (mutex_.try_lock() ||
            wait(waiting_exclusive_, [&] { return mutex_.try_lock_for(time); })) &&
           enter();
  }
  void unlock() {
    exclusive_.store(false, std::memory_order_relaxed);
    mutex_.unlock();
  }

  void lock_shared() {
    if (!mutex_.try_lock_shared()) {
      wait(waiting_shared_, [this] { return mutex_.lock_shared(), true; });
    }
    enter_shared();
  }
  bool try_lock_shared() { return mutex_.try_lock_shared() && enter_shared(); }
  template <class Rep, class Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& time) {
    return (mutex_.try_lock_shared() ||
            wait(waiting_shared_, [&] { return mutex_.try_lock_shared_for(time); })) &&
           enter_shared();
  }
  void unlock_shared() {
    left_shared_.fetch_add(1, std::memory_order_release);
    mutex_.unlock_shared();
  }

  void add_to(KeyLockStats& stats) const noexcept {
    stats.acquisitions +=
        entered_.load(std::memory_order_relaxed) + entered_shared_.load(std::memory_order_relaxed);
    waits_.add_to(stats);
  }
  // Returns the state at about this moment; each field is exact at some moment of the call.
  [[nodiscard]] StripeState state() const noexcept {
    // In this order, so that a reader that enters meanwhile is not counted as minus one.
    const std::uint64_t left = left_shared_.load(std::memory_order_acquire);
    const std::uint64_t entered = entered_shared_.load(std::memory_order_acquire);
    return {.exclusive = exclusive_.load(std::memory_order_relaxed),
            .readers = static_cast<std::size_t>(entered - left),
            .waiting_exclusive = waiting_exclusive_.load(std::memory_order_relaxed),
            .waiting_shared = waiting_shared_.load(std::memory_order_relaxed)};
  }

 private:
  using Count = std::atomic<std::uint64_t>;

  // The writer is alone: it needs no read-modify-write.
  bool enter() noexcept {
    entered_.store(entered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    exclusive_.store(true, std::memory_order_relaxed);
    return true;
  }
  bool enter_shared() noexcept {
    entered_shared_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  template <class Acquire>
  bool wait(Count& waiting, const Acquire& acquire) {
    struct Waiting {
      explicit Waiting(Count& counter) : count(counter) { count.fetch_add(1); }
      ~Waiting() { count.fetch_sub(1); }
      Count& count;
    } const while_waiting(waiting);
    const auto started = std::chrono::steady_clock::now();
    const bool acquired = acquire();
    acquired ? waits_.served(std::chrono::steady_clock::now() - started) : waits_.timed_out();
    return acquired;
  }

  std::shared_timed_mutex mutex_;
  std::atomic<bool> exclusive_{false};
  Count entered_{0};
  Count entered_shared_{0};
  Count left_shared_{0};
  Count waiting_exclusive_{0};
  Count waiting_shared_{0};
  WaitCounters waits_;
};

}  // namespace holdfast::local::internal
