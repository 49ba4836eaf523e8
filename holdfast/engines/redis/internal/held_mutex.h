#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <holdfast/base/name.h>
#include <holdfast/store/outcome.h>

namespace holdfast::engines::redis::internal {

// Returns the state of a mutex whose plain key and note (see `encode_note` in record.lua) say that
// it is held: nearly every name of a listing. Nothing for all others, which look.lua tells. `now`
// is the server's time in microseconds.
[[nodiscard]] std::optional<store::NameState> held_mutex(const base::Name& name,
                                                         std::string_view value,
                                                         std::string_view note, std::int64_t now);

}  // namespace holdfast::engines::redis::internal
