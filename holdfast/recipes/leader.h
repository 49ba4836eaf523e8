#pragma once

#include <optional>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/store/outcome.h>

namespace holdfast::recipes {

// Who leads, as the store sees it.
struct Leader {
  std::string owner;         // who, for people: AcquireOptions::owner of the candidate
  base::FencingToken token;  // of its term: greater than that of every term before
  base::Duration leads_for;
  base::Duration time_left;  // of its lease, if it is not renewed

  friend bool operator==(const Leader&, const Leader&) = default;
};

// Who leads where this is what the store says of the election's name; nothing if nobody does.
[[nodiscard]] base::Result<std::optional<Leader>> leader_in(
    const base::Result<std::optional<store::NameState>>& state);

}  // namespace holdfast::recipes
