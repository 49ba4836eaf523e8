#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <holdfast/engines/mongodb/internal/client.h>
#include <holdfast/store/finding.h>

// Judges a server by its description of itself. Pure.
namespace holdfast::engines::mongodb::internal {

[[nodiscard]] store::Finding judge_version(std::string_view version, std::int64_t wire_version);
[[nodiscard]] store::Finding judge_topology(const Greeting& greeting);
[[nodiscard]] store::Finding judge_write_concern(std::string_view concern);
// `seconds`: when the TTL index removes a document that has ended; nullopt without an index.
[[nodiscard]] store::Finding judge_index(std::optional<std::int64_t> seconds);

}  // namespace holdfast::engines::mongodb::internal
