#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <holdfast/local/internal/futex.h>
#include <holdfast/local/key_wait.h>

namespace holdfast::local::internal {

enum class Mode : std::uint8_t { exclusive, shared };

// One thread that waits for one entry; lives on that thread's stack. The lock of the entry's cell
// protects everything except `signal`.
struct Waiter {
  // Bits of `signal`, the word that the thread sleeps on.
  static constexpr std::uint32_t kRetry = 1;    // the key may be free: try again
  static constexpr std::uint32_t kGranted = 2;  // the waiter holds the key; last use of this object
  static constexpr std::uint32_t kStop = 4;     // the caller's stop token fired

  const void* entry = nullptr;
  Mode mode = Mode::exclusive;
  Priority priority = Priority::normal;
  bool woken = false;        // kRetry was sent and not answered yet
  bool was_passed = false;   // was woken, but found the key locked again
  bool granted = false;      // out of the list; kGranted is set or about to be
  std::uint32_t passes = 0;  // how many releases found it first in the queue
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::time_point::max();
  Waiter* previous = nullptr;
  Waiter* next = nullptr;
  std::atomic<std::uint32_t> signal{0};
};

// The waiters of one shard, for all its keys, in the order in which they are served. Few threads
// wait in one shard at a time, so a search is short. Protected by the shard's lock.
class WaitList {
 public:
  void add(Waiter& waiter) noexcept {
    Waiter* before = nullptr;
    if (waiter.priority == Priority::urgent) {
      before = head_;
      while (before != nullptr &&
             (before->entry != waiter.entry || before->priority == Priority::urgent)) {
        before = before->next;
      }
    }
    insert(waiter, before);
  }

  void remove(Waiter& waiter) noexcept {
    (waiter.previous != nullptr ? waiter.previous->next : head_) = waiter.next;
    (waiter.next != nullptr ? waiter.next->previous : tail_) = waiter.previous;
  }

  // Returns the waiter to serve first, or null.
  [[nodiscard]] Waiter* first_for(const void* entry) const noexcept {
    return find_from(head_, entry);
  }
  [[nodiscard]] static Waiter* next_for(const Waiter& waiter) noexcept {
    return find_from(waiter.next, waiter.entry);
  }

 private:
  static Waiter* find_from(Waiter* waiter, const void* entry) noexcept {
    while (waiter != nullptr && waiter->entry != entry) {
      waiter = waiter->next;
    }
    return waiter;
  }

  void insert(Waiter& waiter, Waiter* before) noexcept {
    waiter.next = before;
    waiter.previous = before != nullptr ? before->previous : tail_;
    (waiter.previous != nullptr ? waiter.previous->next : head_) = &waiter;
    (before != nullptr ? before->previous : tail_) = &waiter;
  }

  Waiter* head_ = nullptr;
  Waiter* tail_ = nullptr;
};

// Threads to wake after the shard is unlocked: no system call should happen under the lock.
// Declare it before the shard's guard.
class Wakes {
 public:
  Wakes() = default;
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;
  ~Wakes() {
    if (retry_ != nullptr || granted_ != nullptr) [[unlikely]] {
      send();
    }
  }

  // Call under the lock: `waiter` is still in the list and may leave it as soon as the lock is
  // free.
  void retry(Waiter& waiter) noexcept {
    waiter.woken = true;
    waiter.signal.fetch_or(Waiter::kRetry, std::memory_order_release);
    retry_ = &waiter.signal;
  }

  // Call under the lock: `waiter` has left the list, and stays alive until it sees kGranted.
  void grant(Waiter& waiter) noexcept {
    waiter.granted = true;
    waiter.next = granted_;
    granted_ = &waiter;
  }

 private:
  void send() noexcept {
    if (retry_ != nullptr) {
      futex_wake_one(retry_);
    }
    while (granted_ != nullptr) {
      Waiter* const waiter = granted_;
      granted_ = waiter->next;
      const std::atomic<std::uint32_t>* const address = &waiter->signal;
      waiter->signal.fetch_or(Waiter::kGranted, std::memory_order_release);
      futex_wake_one(address);
    }
  }

  const std::atomic<std::uint32_t>* retry_ = nullptr;
  Waiter* granted_ = nullptr;
};

}  // namespace holdfast::local::internal
