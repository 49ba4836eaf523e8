#pragma once

#include <string>
#include <string_view>

#include <holdfast/store/outcome.h>

namespace holdfast::cli {

// Returns what a name of the store is: "lock", "election", "mark", "once", or "foreign" if a
// program that is not Holdfast holds it. Marks and the periods of `once` are leases, too: their
// names tell them apart. A term of an election says so as its reason.
[[nodiscard]] std::string_view kind_of(std::string_view name, const store::NameState& state);
// Returns whether the name is one under which a throttle counts; it has no holders.
[[nodiscard]] bool is_throttle(std::string_view name);

// The name in the store of what `once`, `mark` and `throttle` know by a key.
[[nodiscard]] std::string once_name(std::string_view key);
[[nodiscard]] std::string mark_name(std::string_view key);
[[nodiscard]] std::string throttle_name(std::string_view key);

}  // namespace holdfast::cli
