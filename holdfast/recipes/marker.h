#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/base/ttl.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/mark_guard.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::recipes {

// The policy of a call of a Marker when the store is unavailable.
enum class MarkWhenUnavailable : std::uint8_t {
  fail,              // the store's error
  proceed_unmarked,  // continues as if no key were marked, and logs a warning
};

struct MarkerOptions {
  // Begins the name of every mark in the store, so that marks and locks have different names. If
  // empty, they share names: a mark then blocks a lock of its name, and `clear` frees such a lock.
  std::string prefix = "mark/";
  // Human-readable owner label; empty: user@host:pid.
  std::string owner{};
  // The longest wait of a call for the store.
  base::Duration timeout = std::chrono::seconds(5);
  base::Logger logger{};
  // With proceed_unmarked, `try_mark` returns a guard that holds nothing, `mark` returns without a
  // mark, and no key is marked: marks then keep no two callers apart.
  MarkWhenUnavailable when_unavailable = MarkWhenUnavailable::fail;
};

// Expiring flags by key, such as "this file is being processed", for all users of the store.
//
// Thread-safe. A call waits for the store no longer than MarkerOptions::timeout, and never for
// another mark. Marks expire by the store's clock; they are not renewed.
//
// A mark is a lease in the store, and a key has at most one. It has no owner: `mark` and `clear`
// replace and remove any mark, as SETEX and DEL do. Only a MarkGuard knows its own.
//   mark      claims the name, or transfers it from the present mark: the last one counts, with its
//             own ttl, longer or shorter
//   try_mark  claims the name: exactly one caller wins the race
//   clear     releases the mark that it sees; one that is set at the same time may stay
//
// Not promised: exclusion. A mark says that a caller has started; a slow caller's mark may have
// expired. If two at the same time would do harm, use a lock.
//
// Errors are those of LeaseStore; also conflict if a program that is not Holdfast has set the mark,
// which can be seen but not replaced; timed_out if others kept replacing it. After unknown_outcome
// the mark may be set, for its ttl at most.
//
//   Marker marker(provider);
//   auto mine = marker.try_mark("file/" + hash, 5min);
//   if (mine && *mine) process();   // cleared at the end of the scope
class Marker {
 public:
  // Uses the store of the provider, and keeps it alive.
  explicit Marker(const locks::LockProvider& provider, MarkerOptions options = {});
  explicit Marker(std::shared_ptr<store::LeaseStore> store, MarkerOptions options = {});

  [[nodiscard]] base::Result<void> mark(std::string_view key, base::Ttl ttl);
  // Returns nullopt if the key is marked already.
  [[nodiscard]] base::Result<std::optional<MarkGuard>> try_mark(std::string_view key,
                                                                base::Ttl ttl);
  base::Result<ClearOutcome> clear(std::string_view key);

  [[nodiscard]] base::Result<bool> is_marked(std::string_view key);
  // Returns nullopt if the key is not marked.
  [[nodiscard]] base::Result<std::optional<base::Duration>> time_left(std::string_view key);

 private:
  [[nodiscard]] base::Deadline deadline() const;
  [[nodiscard]] base::Result<std::string> name_of(std::string_view key) const;
  [[nodiscard]] store::Claim new_claim(base::Ttl ttl) const;
  [[nodiscard]] base::Result<void> set(std::string_view key, base::Ttl ttl);
  [[nodiscard]] base::Result<std::optional<MarkGuard>> try_set(std::string_view key, base::Ttl ttl);
  [[nodiscard]] base::Result<ClearOutcome> remove(std::string_view key);
  [[nodiscard]] base::Result<std::optional<base::Duration>> look(std::string_view key);
  // Returns the outcome, or `unmarked` if the store is unavailable and the policy is to proceed.
  template <class T>
  [[nodiscard]] base::Result<T> or_proceed(base::Result<T> outcome, std::string_view key,
                                           base::Result<T> unmarked) const;
  // Returns false if another caller changed the mark in between.
  base::Result<bool> set_once(std::string_view name, const store::Claim& claim,
                              base::Deadline until);

  const std::shared_ptr<store::LeaseStore> store_;
  const MarkerOptions options_;
};

}  // namespace holdfast::recipes
