#pragma once

#include <string_view>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/engines/redis/internal/key_space.h>
#include <holdfast/engines/redis/internal/link.h>

namespace holdfast::engines::redis::internal {

// The names, in byte order, that have a companion, begin with `prefix`, and come after `after`.
//
// Walks over all keys of the database, in many small steps: what exists from the first to the last
// is found.
[[nodiscard]] base::Result<std::vector<base::Name>> scan_names(Link& link, const KeySpace& keys,
                                                               std::string_view prefix,
                                                               std::string_view after,
                                                               base::Deadline deadline);

}  // namespace holdfast::engines::redis::internal
