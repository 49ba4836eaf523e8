#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence {

// Whose SQL: what parameters and names look like. SQLite from 3.24, PostgreSQL from 9.5.
enum class SqlDialect : std::uint8_t {
  sqlite,      // ?1, ?2
  postgresql,  // $1, $2
};

// A table's or a column's name as it stands in a statement, whatever characters it has: in quotes.
// invalid_argument where the database could not have such a name, or would cut it silently: an
// empty one, one with a NUL byte, and on PostgreSQL one of more than 63 bytes.
[[nodiscard]] base::Result<std::string> quote_identifier(SqlDialect dialect, std::string_view name);

// The token as SQL and BSON keep it, in 63 bits; invalid_argument for a greater one. Holdfast's
// stores mint none that is greater.
[[nodiscard]] base::Result<std::int64_t> to_bigint(base::FencingToken token);

}  // namespace holdfast::fence
