#pragma once

#include <iosfwd>
#include <string>

#include <holdfast/base/text_format.h>
#include <holdfast/store/outcome.h>

// The outcomes of renewals and releases as words, for a log: "released", "not_held".
namespace holdfast::store {

std::string to_string(RenewOutcome outcome);
std::string to_string(ReleaseOutcome outcome);
std::ostream& operator<<(std::ostream& out, RenewOutcome outcome);
std::ostream& operator<<(std::ostream& out, ReleaseOutcome outcome);

}  // namespace holdfast::store

template <>
inline constexpr bool holdfast::base::kFormatsAsText<holdfast::store::RenewOutcome> = true;
template <>
inline constexpr bool holdfast::base::kFormatsAsText<holdfast::store::ReleaseOutcome> = true;
