#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/locks/waiters.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/store/outcome.h>

#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/recipe_records.h"

namespace holdfast::cli {

// The reasons for which a command waits or is skipped.
struct Obstacles {
  std::optional<store::NameState> lock{};
  std::vector<locks::Waiter> waiters{};
  std::vector<locks::Waiter> deadlock{};  // each waits for a name that the next one holds
  RecipeRecords recipes{};
};

// Asks the store for all of them; blocks for up to two seconds more where it suspects a deadlock.
[[nodiscard]] base::Result<Obstacles> find_obstacles(store::LeaseStore& store,
                                                     const std::string& name);

// Returns the name that this waiter of a deadlock holds: the one that the waiter before it waits
// for.
[[nodiscard]] const std::string& held_in(const std::vector<locks::Waiter>& deadlock, std::size_t i);

[[nodiscard]] Json deadlock_json(const std::vector<locks::Waiter>& deadlock);
// Returns the keys of a state, and the reasons.
[[nodiscard]] Json to_json(const std::string& name, const Obstacles& found);

}  // namespace holdfast::cli
