#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <holdfast/base/steady_deadline.h>
#include <holdfast/local/internal/key_probe.h>
#include <holdfast/local/internal/key_table.h>

namespace holdfast::local {

// One key's lock as an object with the interface of std::shared_timed_mutex, for std::unique_lock,
// std::shared_lock, std::scoped_lock and std::lock.
//
// Thread-safe: many threads may use it at the same time, and two objects for one key are the same
// lock. Holds a copy of its key; the KeyLock it came from must outlive it. Not re-entrant. Locks as
// the KeyLock's own functions do, but counts all readers in one place: for a key that many threads
// read constantly, KeyLock::lock_shared is faster.
//
// Do not pass two objects for the *same* key to std::scoped_lock: it would wait for itself.
//
//   auto from = locks.mutex("account:1"), to = locks.mutex("account:2");
//   std::scoped_lock both(from, to);
class KeyMutex {
 public:
  KeyMutex(internal::KeyTable& table, std::string_view key)
      : table_(table), key_(key), probe_(table.probe(key_)) {}
  KeyMutex(const KeyMutex&) = delete;
  KeyMutex& operator=(const KeyMutex&) = delete;

  [[nodiscard]] const std::string& key() const noexcept { return key_; }

  void lock() { static_cast<void>(table_.acquire(probe_, internal::Mode::exclusive, {})); }
  [[nodiscard]] bool try_lock() { return try_now(internal::Mode::exclusive); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
    return try_until(internal::Mode::exclusive, base::steady_deadline(time));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_until(internal::Mode::exclusive, base::steady_deadline(time));
  }
  void unlock() noexcept { table_.release(probe_, internal::Mode::exclusive); }

  void lock_shared() { static_cast<void>(table_.acquire(probe_, internal::Mode::shared, {})); }
  [[nodiscard]] bool try_lock_shared() { return try_now(internal::Mode::shared); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& time) {
    return try_until(internal::Mode::shared, base::steady_deadline(time));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_until(internal::Mode::shared, base::steady_deadline(time));
  }
  void unlock_shared() noexcept { table_.release(probe_, internal::Mode::shared); }

 private:
  bool try_now(internal::Mode mode) { return table_.try_acquire(probe_, mode) != nullptr; }
  bool try_until(internal::Mode mode, std::chrono::steady_clock::time_point until) {
    return table_.acquire(probe_, mode, {.until = until}).has_value();
  }

  internal::KeyTable& table_;
  const std::string key_;
  const internal::KeyProbe probe_;
};

}  // namespace holdfast::local
