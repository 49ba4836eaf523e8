#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/base/ttl.h>
#include <holdfast/recipes/mark_guard.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::recipes {

struct MarkerOptions {
  // Begins the name of every mark in the store, so that marks and locks do not meet. Empty: they
  // share their names, a mark then keeps a lock of its name away, and `clear` frees such a lock.
  std::string prefix = "mark/";
  // Who, for those who look into the store; empty: user@host:pid.
  std::string owner{};
  // The most that a call waits for the store.
  base::Duration timeout = std::chrono::seconds(5);
  base::Logger logger{};
};

// Marks keys for a limited time, such as "this file is being processed", for all who use the store.
//
// Thread-safe. A call waits for the store no longer than MarkerOptions::timeout, and never for
// another mark. Marks run out by the store's clock; nothing renews them.
//
// A mark is a lease of the store, and a key has at most one. It has no owner: `mark` and `clear`
// replace and remove whoever's mark is there, as SETEX and DEL do. Only a MarkGuard knows its own.
//   mark      claims the name, or transfers it from the mark that is there: the last one counts,
//   with
//             its own ttl, be that longer or shorter
//   try_mark  claims the name: of all who try at once, exactly one has it
//   clear     releases the mark that it sees; one that is set at the same time may stay
//
// Not promised: exclusion. A mark says that somebody began, and a slow one may have outlived his
// mark. Where two at once do harm, take a lock.
//
// Errors are those of LeaseStore; conflict also where a program that is not Holdfast has set the
// mark, which can be seen but not replaced; timed_out where others kept replacing it. After
// unknown_outcome the mark may be there, for its ttl at the most.
//
//   Marker marker(store);
//   auto mine = marker.try_mark("file/" + hash, 5min);
//   if (mine && *mine) process();   // cleared at the end of the scope
class Marker {
 public:
  explicit Marker(std::shared_ptr<store::LeaseStore> store, MarkerOptions options = {});

  [[nodiscard]] base::Result<void> mark(std::string_view key, base::Ttl ttl);
  // Nothing if it is marked already.
  [[nodiscard]] base::Result<std::optional<MarkGuard>> try_mark(std::string_view key,
                                                                base::Ttl ttl);
  base::Result<ClearOutcome> clear(std::string_view key);

  [[nodiscard]] base::Result<bool> is_marked(std::string_view key);
  // Nothing if it is not marked.
  [[nodiscard]] base::Result<std::optional<base::Duration>> time_left(std::string_view key);

 private:
  [[nodiscard]] base::Deadline deadline() const;
  [[nodiscard]] base::Result<std::string> name_of(std::string_view key) const;
  [[nodiscard]] store::Claim new_claim(base::Ttl ttl) const;
  // False if somebody else changed the mark in between.
  base::Result<bool> set_once(std::string_view name, const store::Claim& claim,
                              base::Deadline until);

  const std::shared_ptr<store::LeaseStore> store_;
  const MarkerOptions options_;
};

}  // namespace holdfast::recipes
