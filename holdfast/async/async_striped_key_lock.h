#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/async/async_key_lock.h>
#include <holdfast/async/key_guard.h>
#include <holdfast/async/key_list.h>
#include <holdfast/local/key_stats.h>

namespace holdfast::async {

// A fixed number of reader-writer locks for coroutines that all keys share by their hash: bounded
// memory, however many keys are held at a time.
//
// Thread-safe. Each stripe is a key of an AsyncKeyLock: lifetime, cancellation, fairness and errors
// are those of that class. A key need not outlive the call.
//
// **Two keys may share a stripe.** They then exclude each other, which only costs time, unless one
// coroutine holds both: a coroutine that locks a second key while it holds a first one may deadlock
// with itself, or with another that locks them in the opposite order. Lock several keys with one
// `lock_all`, which locks each stripe once and always in the same order, or use AsyncKeyLock.
//
//   AsyncStripedKeyLock locks;
//   auto both = co_await locks.lock_all({"account:1", "account:2"});
class AsyncStripedKeyLock {
 public:
  AsyncStripedKeyLock() : AsyncStripedKeyLock(1024) {}
  // `stripes` is rounded up to a power of two, at least 1 and at most 2^20; throws base::Exception
  // with ErrorCode::invalid_argument beyond that, and for invalid options.
  explicit AsyncStripedKeyLock(std::size_t stripes, const AsyncKeyLockOptions& options = {});

  // Lock as the functions of AsyncKeyLock with these names do. After the key they take the same
  // arguments: a wait or a time, and a completion token.
  template <class... More>
  auto lock(std::string_view key, More&&... more) {
    return stripes_.lock(stripe_text(key), std::forward<More>(more)...);
  }
  template <class... More>
  auto lock_shared(std::string_view key, More&&... more) {
    return stripes_.lock_shared(stripe_text(key), std::forward<More>(more)...);
  }
  template <class Time, class... More>
  auto lock_for(std::string_view key, Time time, More&&... more) {
    return stripes_.lock_for(stripe_text(key), time, std::forward<More>(more)...);
  }
  template <class Time, class... More>
  auto lock_shared_for(std::string_view key, Time time, More&&... more) {
    return stripes_.lock_shared_for(stripe_text(key), time, std::forward<More>(more)...);
  }
  // Lock all these keys: complete with a vector of guards, one for each different stripe.
  template <class... More>
  auto lock_all(const KeyList& keys, More&&... more) {
    return stripes_.lock_all(stripe_texts(keys), std::forward<More>(more)...);
  }
  template <class... More>
  auto lock_all_shared(const KeyList& keys, More&&... more) {
    return stripes_.lock_all_shared(stripe_texts(keys), std::forward<More>(more)...);
  }

  // Return nullopt at once if the stripe is locked or waited for.
  [[nodiscard]] std::optional<AsyncExclusiveGuard> try_lock(std::string_view key) {
    return stripes_.try_lock(stripe_text(key));
  }
  [[nodiscard]] std::optional<AsyncSharedGuard> try_lock_shared(std::string_view key) {
    return stripes_.try_lock_shared(stripe_text(key));
  }

  [[nodiscard]] std::size_t stripes() const noexcept { return mask_ + 1; }
  // Returns the key's stripe; the same for the life of the process, not beyond.
  [[nodiscard]] std::size_t stripe_of(std::string_view key) const noexcept;

  [[nodiscard]] local::KeyLockStats stats() const { return stripes_.stats(); }
  // Returns every stripe that is held. Exact for each stripe, but not one moment for all of them.
  [[nodiscard]] std::vector<local::StripeState> snapshot() const;

 private:
  [[nodiscard]] std::string stripe_text(std::string_view key) const;
  [[nodiscard]] KeyList stripe_texts(const KeyList& keys) const;

  const std::size_t mask_;
  AsyncKeyLock stripes_;  // by the number of the stripe
};

}  // namespace holdfast::async
