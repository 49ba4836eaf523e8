#pragma once

#include <string>
#include <string_view>

#include <holdfast/store/outcome.h>

namespace holdfast::cli {

// Return what a name of the store is: "lock", "mark", "once", or "foreign" if a program that is not
// Holdfast holds it. Marks and the periods of `once` are leases, too: their names tell them apart.
[[nodiscard]] std::string_view kind_of(std::string_view name, const store::NameState& state);

// The name in the store of what `once`, `mark` and `throttle` know by a key.
[[nodiscard]] std::string once_name(std::string_view key);
[[nodiscard]] std::string mark_name(std::string_view key);
[[nodiscard]] std::string throttle_name(std::string_view key);

}  // namespace holdfast::cli
