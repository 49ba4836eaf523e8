#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>

#include "apps/holdfast/cli/entries.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/serve/chronicle.h"
#include "apps/holdfast/serve/message.h"

// The parts that several answers of the API have.
namespace holdfast::cli::serve {

// Returns one line of JSON.
[[nodiscard]] Response json_response(const Json& value);
[[nodiscard]] Response error_response(const base::Error& error);

// Returns the time of day that a time of base::boot_clock() is, in UTC.
[[nodiscard]] std::string wall_text(base::TimePoint when);

// Returns the keys of `ls --json` as they are `age` after the listing, with `most` waiters at most,
// and `id` and `waiter_count`.
[[nodiscard]] Json entry_json(std::string_view name, const Entry& entry, base::Duration age,
                              std::size_t most);
[[nodiscard]] Json hold_json(const PastHold& hold);
[[nodiscard]] Json wait_json(const PastWait& wait);
[[nodiscard]] Json event_json(const LeaseEvent& event);

}  // namespace holdfast::cli::serve
