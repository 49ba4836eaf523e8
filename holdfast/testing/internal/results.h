#pragma once

#include <optional>
#include <ostream>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/store/outcome.h>

namespace holdfast::testing::internal {

// Returns nullopt if there is no error.
template <class T>
[[nodiscard]] std::optional<base::ErrorCode> error_of(const base::Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

}  // namespace holdfast::testing::internal

// Printers for GoogleTest, in the namespaces of the types, where it looks for them.
namespace holdfast::base {

// NOLINTBEGIN(readability-identifier-naming): the name that GoogleTest looks for.
inline void PrintTo(ErrorCode code, std::ostream* out) { *out << to_string(code); }
inline void PrintTo(const LeaseId& id, std::ostream* out) { *out << to_string(id); }
inline void PrintTo(FencingToken token, std::ostream* out) { *out << to_string(token); }

}  // namespace holdfast::base

namespace holdfast::store {

inline void PrintTo(RenewOutcome outcome, std::ostream* out) {
  switch (outcome) {
    case RenewOutcome::renewed: *out << "renewed"; break;
    case RenewOutcome::lost: *out << "lost"; break;
    case RenewOutcome::failed: *out << "failed"; break;
  }
}
inline void PrintTo(ReleaseOutcome outcome, std::ostream* out) {
  *out << (outcome == ReleaseOutcome::released ? "released" : "not_held");
}
// NOLINTEND(readability-identifier-naming)

}  // namespace holdfast::store
