#pragma once

#include <optional>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/store/outcome.h>

namespace holdfast::recipes {

// The current leader, as the store sees it.
struct Leader {
  std::string owner;         // owner label: AcquireOptions::owner of the candidate
  base::FencingToken token;  // of its term: greater than that of every earlier term
  base::Duration leads_for;
  base::Duration time_left;  // of its lease, unless it is renewed

  friend bool operator==(const Leader&, const Leader&) = default;
};

// Returns the leader according to the store's state of the election's name; nullopt if there is
// none.
[[nodiscard]] base::Result<std::optional<Leader>> leader_in(
    const base::Result<std::optional<store::NameState>>& state);

}  // namespace holdfast::recipes
