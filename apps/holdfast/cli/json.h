#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/store/outcome.h>

// What programs read: the schema that holdfast.1 documents under "JSON". Keys are in the order in
// which they are set; durations are milliseconds; a fencing token is a number.
namespace holdfast::cli {

using Json = nlohmann::ordered_json;

[[nodiscard]] double to_ms(base::Duration value) noexcept;
// Null stands for "all".
[[nodiscard]] Json permits_json(std::uint32_t count);

[[nodiscard]] Json to_json(const base::Error& error);
[[nodiscard]] Json to_json(const store::Holder& holder);
[[nodiscard]] Json to_json(std::string_view name, const std::optional<store::NameState>& state);

// Returns one line without its end, safe for a terminal: characters that could change how it is
// shown are escaped. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string to_line(const Json& value);
// A line on standard output, at once.
void print_line(const Json& value);

}  // namespace holdfast::cli
