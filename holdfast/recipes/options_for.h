#pragma once

#include <chrono>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/locks/acquire_options.h>

// The options with which recipes acquire: what the recipes of threads and those of coroutines
// share, for authors of another face.
namespace holdfast::recipes {

// The default of AcquireOptions::holds_back for a writer, and for several permits.
inline constexpr base::Duration kHoldsBack = std::chrono::seconds(5);

[[nodiscard]] locks::AcquireOptions as_reader(locks::AcquireOptions options);
[[nodiscard]] locks::AcquireOptions as_writer(locks::AcquireOptions options);
// The reason of a term for which its candidate gave none: `holdfast show` knows an election by it.
inline constexpr std::string_view kLeads = "leads";

// Returns the options for acquiring a term of an election.
[[nodiscard]] locks::AcquireOptions as_candidate(locks::AcquireOptions options);

}  // namespace holdfast::recipes
