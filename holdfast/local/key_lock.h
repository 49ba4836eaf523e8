#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/base/steady_deadline.h>
#include <holdfast/local/key_guard.h>
#include <holdfast/local/key_lock_options.h>
#include <holdfast/local/key_mutex.h>
#include <holdfast/local/key_stats.h>
#include <holdfast/local/key_wait.h>

namespace holdfast::local {

// Reader-writer locks by key. The lock of a key exists only while the key is held or waited for.
//
// Thread-safe. It must outlive its guards and mutexes; when it is destroyed there must be no holder
// and no waiter. Keys are any bytes, of any length, the empty key included; every byte counts. A
// key is copied where needed: the view need not outlive the call.
//
// `lock` blocks until the key is free, the wait's deadline, or its stop token. A deadline in the
// past means one try; a token that is already stopped means none. Not re-entrant: a thread that
// waits for a key that it holds waits for ever.
//
// Fairness. Waiters for a key are served in order of arrival, urgent ones first; readers that are
// adjacent in the queue enter together. A reader that arrives while another caller waits queues
// behind it, so writers do not starve behind a stream of readers, nor readers behind writers. One
// exception keeps a busy key busy: while the first waiter is being woken, newcomers may take the
// free key. That happens to a waiter once; then, or when it has waited for two milliseconds, a
// release passes the key directly to it.
//
// Throws std::bad_alloc if there is no memory for a new key, with nothing changed, and
// std::system_error beyond a thousand million readers of one key. Releasing does not throw.
//
//   KeyLock locks;
//   if (auto guard = locks.try_lock_for("invoice:42", 50ms)) { … }
class KeyLock {
 public:
  KeyLock() : KeyLock(KeyLockOptions{}) {}
  // Throws base::Exception with ErrorCode::invalid_argument for options out of their range.
  explicit KeyLock(const KeyLockOptions& options);
  ~KeyLock();
  KeyLock(const KeyLock&) = delete;
  KeyLock& operator=(const KeyLock&) = delete;

  [[nodiscard]] ExclusiveGuard lock(std::string_view key);
  [[nodiscard]] SharedGuard lock_shared(std::string_view key);

  [[nodiscard]] std::expected<ExclusiveGuard, WaitEnd> lock(std::string_view key,
                                                            const KeyWait& wait);
  [[nodiscard]] std::expected<SharedGuard, WaitEnd> lock_shared(std::string_view key,
                                                                const KeyWait& wait);

  // Returns nullopt at once if the key is locked.
  [[nodiscard]] std::optional<ExclusiveGuard> try_lock(std::string_view key);
  [[nodiscard]] std::optional<SharedGuard> try_lock_shared(std::string_view key);

  // Returns nullopt if the key was not locked in time.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<ExclusiveGuard> try_lock_for(
      std::string_view key, std::chrono::duration<Rep, Period> time) {
    return in_time(lock(key, {.until = base::steady_deadline(time)}));
  }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<SharedGuard> try_lock_shared_for(
      std::string_view key, std::chrono::duration<Rep, Period> time) {
    return in_time(lock_shared(key, {.until = base::steady_deadline(time)}));
  }
  // Do the same, until a time point of any clock.
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<ExclusiveGuard> try_lock_until(
      std::string_view key, std::chrono::time_point<Clock, Duration> time) {
    return in_time(lock(key, {.until = base::steady_deadline(time)}));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<SharedGuard> try_lock_shared_until(
      std::string_view key, std::chrono::time_point<Clock, Duration> time) {
    return in_time(lock_shared(key, {.until = base::steady_deadline(time)}));
  }

  // Locks all these keys, each once however often it is named, without a deadlock between callers:
  // always in the same order. With a wait, which is for all keys together, locks all or none. A
  // caller that already holds a key may deadlock with another caller, or with itself.
  using MultiGuard = std::vector<ExclusiveGuard>;
  [[nodiscard]] MultiGuard lock_all(std::span<const std::string_view> keys);
  [[nodiscard]] MultiGuard lock_all(std::initializer_list<std::string_view> keys) {
    return lock_all(std::span(keys.begin(), keys.size()));
  }
  [[nodiscard]] std::expected<MultiGuard, WaitEnd> lock_all(std::span<const std::string_view> keys,
                                                            const KeyWait& wait);
  [[nodiscard]] std::expected<MultiGuard, WaitEnd> lock_all(
      std::initializer_list<std::string_view> keys, const KeyWait& wait) {
    return lock_all(std::span(keys.begin(), keys.size()), wait);
  }

  // Returns the key's lock as an object for the standard's lock classes.
  [[nodiscard]] KeyMutex mutex(std::string_view key) { return {*table_, key}; }

  // Returns how many keys are held or waited for at this moment.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] KeyLockStats stats() const;
  // Returns every key that is held or waited for. Reads one shard after the other: exact for each
  // key, but not one moment for all of them.
  [[nodiscard]] std::vector<KeyState> snapshot() const;

 private:
  template <class Guard>
  static std::optional<Guard> in_time(std::expected<Guard, WaitEnd> result) {
    return result ? std::optional<Guard>(*std::move(result)) : std::nullopt;
  }

  const std::unique_ptr<internal::KeyTable> table_;
};

}  // namespace holdfast::local
