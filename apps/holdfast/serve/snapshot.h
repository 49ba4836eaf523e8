#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/waiters.h>

#include "apps/holdfast/cli/entries.h"

namespace holdfast::cli::serve {

// The last listing of a store, and whether the store still answers. Never changes once it is made:
// readers share it.
struct Snapshot {
  std::uint64_t version = 0;  // grows with each listing, and with each that failed
  // All names that are held or waited for, in the order of their bytes.
  std::vector<std::pair<std::string, Entry>> entries{};
  std::size_t held = 0;     // names with a holder
  std::size_t waiters = 0;  // of all names
  std::vector<std::vector<locks::Waiter>> deadlocks{};
  base::TimePoint taken{};            // by base::boot_clock(), when the entries were read
  base::Duration took{};              // the time that the listing took
  std::optional<base::Error> down{};  // the reason why the store did not answer since
  bool answered = false;              // there was a listing

  // Returns the holders and waiters of a name; null if it is free.
  [[nodiscard]] const Entry* find(std::string_view name) const;
};

using SharedSnapshot = std::shared_ptr<const Snapshot>;

// Returns the entry as it is `age` after it was read, if no holder has renewed: holders and
// waiters are older by that much, and leases are shorter.
[[nodiscard]] Entry aged(const Entry& entry, base::Duration age);

// Returns the pause before the next listing: so long that listings take a twentieth of the time,
// and that a listing of many names stays a small part of the load of the store.
[[nodiscard]] base::Duration pause_after(std::size_t names, base::Duration took,
                                         base::Duration every);

}  // namespace holdfast::cli::serve
