#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::store {

// Returns a view of a store in which every name begins with `prefix`: a caller names "report", and
// the store keeps "billing/report". Two views with different prefixes share nothing, unless one
// prefix begins with the other.
//
// The view is as thread-safe as the store, keeps it alive, and has its capabilities, its deadlines
// and its errors. `look` and `list` show only names below the prefix, without it. A name is
// ErrorCode::invalid_argument if it is longer than base::Name::kMaxSize together with the prefix.
//
// Returns the store itself for an empty prefix, and ErrorCode::invalid_argument for a prefix that
// leaves no room for a name.
//
//   auto billing = base::value_or_throw(store::with_prefix(store, "billing/"));
[[nodiscard]] base::Result<std::shared_ptr<LeaseStore>> with_prefix(
    std::shared_ptr<LeaseStore> store, std::string_view prefix);

}  // namespace holdfast::store
