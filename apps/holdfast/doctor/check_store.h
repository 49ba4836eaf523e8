#pragma once

#include <cstdint>

#include <holdfast/store/lease_store.h>

#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/store_location.h"
#include "apps/holdfast/doctor/check.h"

namespace holdfast::cli {

enum class RoundTrips : std::uint8_t { made, skipped };

// Checks a store that was opened: its promises, its answers, its file or server. Without round
// trips nothing is written.
[[nodiscard]] Checks check_store(store::LeaseStore& store, const StoreLocation& location,
                                 RoundTrips round_trips);

// Returns [{"name", "status", "detail"}].
[[nodiscard]] Json to_json(const Checks& checks);

}  // namespace holdfast::cli
