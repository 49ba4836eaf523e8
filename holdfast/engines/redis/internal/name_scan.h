#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/key_space.h>

namespace holdfast::engines::redis::internal {

// The limits of one walk over the keys of a server.
struct ScanLimits {
  std::size_t names = 4'000'000;
  std::size_t bytes = std::size_t{256} << 20U;
  std::size_t steps = 1'000'000;
  // The limit for keys of other programs, which may be locks. If there are more, none of them
  // counts: the database is a cache.
  std::size_t foreign = 100'000;
};

// Returns the names, in byte order, that begin with `prefix`, come after `after`, and have a
// companion or a plain key.
//
// Walks once over all keys of the database, in many small steps: what exists from the first to the
// last is found. limit_exceeded: there is more than the limits allow; unavailable: the server's
// answers have no end.
[[nodiscard]] base::Result<std::vector<base::Name>> scan_names(
    Connection& connection, const KeySpace& keys, std::string_view prefix, std::string_view after,
    base::Deadline deadline, const ScanLimits& limits = {});

}  // namespace holdfast::engines::redis::internal
