#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/name.h>

namespace holdfast::store {

// The names of one listing, found by one walk over a store, and shown page by page.
struct Listing {
  std::string prefix;
  std::vector<base::Name> names;  // in byte order
  std::size_t shown = 0;          // so many of them are on pages before
  base::TimePoint began{};        // when it was first kept
};

// The listings between one page and the next, so that a page need not walk over all names again:
// for an engine that cannot find them in order.
//
// Thread-safe. Keeps a few, and forgets what is older than a minute at the next listing; a page
// whose listing is not here any more begins another. Of two that have come to the same name, the
// one that began later goes on.
class Listings {
 public:
  static constexpr std::size_t kMost = 4;
  static constexpr base::Duration kKept = std::chrono::minutes(1);

  // Removes and returns the listing whose next page begins after this name.
  [[nodiscard]] std::optional<Listing> take(std::string_view prefix, std::string_view after,
                                            base::TimePoint now);
  // Keeps it for its next page, which begins after this name.
  void keep(Listing listing, std::string after, base::TimePoint now);

 private:
  struct Kept {
    Listing listing;
    std::string after;
    base::TimePoint since;
  };

  void forget_old(base::TimePoint now) HOLDFAST_REQUIRES(mutex_);

  base::Mutex mutex_;
  std::vector<Kept> kept_ HOLDFAST_GUARDED_BY(mutex_);  // the oldest first
};

}  // namespace holdfast::store
