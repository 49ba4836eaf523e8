#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/store/lease_store.h>

#include "apps/holdfast/cli/json.h"

namespace holdfast::cli {

// The records that `once`, `throttle` and `mark` keep for a key, under names of their own.
struct RecipeRecords {
  std::optional<store::NameState> once{};
  std::optional<store::NameState> mark{};
  std::optional<store::HitOutcome> throttle{};  // if calls were counted in this window

  [[nodiscard]] bool is_empty() const noexcept { return !once && !mark && !throttle; }
};

[[nodiscard]] base::Result<RecipeRecords> find_recipe_records(store::LeaseStore& store,
                                                              std::string_view key);

// Returns the hits that are counted under this name of the store; nullopt if there are none. They
// say nothing of the limit, which only the callers know.
[[nodiscard]] base::Result<std::optional<store::HitOutcome>> find_hits(store::LeaseStore& store,
                                                                       std::string_view name);

// Returns for each that there is the recipe and a text such as "2 passed in this window, which ends
// in 59s".
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> lines_of(
    const RecipeRecords& records);
// Returns the members `once`, `throttle` and `mark`, each null if there is none.
[[nodiscard]] Json to_json(const RecipeRecords& records);

}  // namespace holdfast::cli
