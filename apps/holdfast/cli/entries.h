#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/locks/waiters.h>
#include <holdfast/store/lease_store.h>

#include "apps/holdfast/cli/json.h"

namespace holdfast::cli {

// The holders of a name and its waiters.
struct Entry {
  std::optional<store::NameState> state{};  // none between a release and the next grant
  std::vector<locks::Waiter> waiters{};     // the one that waits longest first
};
using Entries = std::map<std::string, Entry>;

// Returns the names that begin with `prefix` and are held or waited for.
[[nodiscard]] base::Result<Entries> find_entries(store::LeaseStore& store, std::string_view prefix);

// Returns the keys of a state, and its waiters.
[[nodiscard]] Json to_json(std::string_view name, const Entry& entry);

}  // namespace holdfast::cli
