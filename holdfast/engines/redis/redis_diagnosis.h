#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis {

// One property of a server, and what it means for the promises.
struct Finding {
  enum class Level : std::uint8_t {
    good,
    warning,  // works, but promises less
    bad,      // locks may be given to two at once, or cannot be given at all
  };

  std::string name;  // stable, for programs: version, eviction, persistence, …
  Level level = Level::good;
  std::string detail;  // for people; says what to do where something is wrong

  friend bool operator==(const Finding&, const Finding&) = default;
};

// Asks a server for its version and settings, on a connection of its own. Fails as
// RedisStore::open() does.
[[nodiscard]] base::Result<std::vector<Finding>> diagnose(const RedisOptions& options);

}  // namespace holdfast::engines::redis
