#pragma once

#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/objects/internal/object_type.h>

namespace holdfast::objects::internal {

// Returns the error for a rejected token: `lost` to a host with a lease, `conflict` to one without.
[[nodiscard, gnu::cold]] base::Error refusal(const ObjectType& type, std::string_view id,
                                             base::FencingToken token, base::FencingToken newest);

}  // namespace holdfast::objects::internal
