#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/local/internal/hash.h>
#include <holdfast/local/internal/stripe_mutex.h>
#include <holdfast/local/key_stats.h>

namespace holdfast::local {

// A fixed number of reader-writer locks that all keys share by their hash: constant memory, however
// many keys there are (192 bytes for each stripe).
//
// Thread-safe. It must outlive its guards. Fairness is the platform's (std::shared_timed_mutex).
//
// **Two keys may share a stripe.** They then exclude each other, which only costs time, unless one
// thread holds both: a thread that locks a second key while it holds a first one may deadlock with
// itself, or with a thread that locks them in the opposite order. Lock several keys with one
// `lock_all`, which locks each stripe once and always in the same order, or use KeyLock.
//
//   StripedKeyLock locks;
//   auto both = locks.lock_all({"account:1", "account:2"});
class StripedKeyLock {
 public:
  using Exclusive = std::unique_lock<internal::StripeMutex>;
  using Shared = std::shared_lock<internal::StripeMutex>;

  // Holds several stripes until destroyed; move-only.
  using MultiGuard = std::vector<Exclusive>;

  StripedKeyLock() : StripedKeyLock(1024) {}
  // `stripes` is rounded up to a power of two, at least 1 and at most 2^20; throws base::Exception
  // with ErrorCode::invalid_argument beyond that.
  explicit StripedKeyLock(std::size_t stripes);
  ~StripedKeyLock();
  StripedKeyLock(const StripedKeyLock&) = delete;
  StripedKeyLock& operator=(const StripedKeyLock&) = delete;

  [[nodiscard]] Exclusive lock(std::string_view key) { return Exclusive(mutex(key)); }
  [[nodiscard]] Shared lock_shared(std::string_view key) { return Shared(mutex(key)); }
  // Return nullopt if the stripe was not locked at once, or in time.
  [[nodiscard]] std::optional<Exclusive> try_lock(std::string_view key) {
    return if_held(Exclusive(mutex(key), std::try_to_lock));
  }
  [[nodiscard]] std::optional<Shared> try_lock_shared(std::string_view key) {
    return if_held(Shared(mutex(key), std::try_to_lock));
  }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Exclusive> try_lock_for(std::string_view key,
                                                      std::chrono::duration<Rep, Period> time) {
    return if_held(Exclusive(mutex(key), time));
  }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Shared> try_lock_shared_for(std::string_view key,
                                                          std::chrono::duration<Rep, Period> time) {
    return if_held(Shared(mutex(key), time));
  }

  // Locks all these keys, duplicates and collisions included, without a deadlock between callers.
  [[nodiscard]] MultiGuard lock_all(std::span<const std::string_view> keys);
  [[nodiscard]] MultiGuard lock_all(std::initializer_list<std::string_view> keys) {
    return lock_all(std::span(keys.begin(), keys.size()));
  }

  [[nodiscard]] std::size_t stripes() const noexcept { return mask_ + 1; }
  // Returns the key's stripe; the same for the life of this object, not beyond.
  [[nodiscard]] std::size_t stripe_of(std::string_view key) const noexcept;

  [[nodiscard]] KeyLockStats stats() const;
  // Returns every stripe that is held or waited for. Not one moment for all of them, and a holder
  // that is just entering or leaving may be missed.
  [[nodiscard]] std::vector<StripeState> snapshot() const;

 private:
  template <class Guard>
  static std::optional<Guard> if_held(Guard guard) {
    return guard ? std::optional<Guard>(std::move(guard)) : std::nullopt;
  }
  [[nodiscard]] internal::StripeMutex& mutex(std::string_view key) noexcept;

  const internal::HashSeed seed_;
  const std::size_t mask_;
  const std::unique_ptr<internal::StripeMutex[]> stripes_;
};

}  // namespace holdfast::local
