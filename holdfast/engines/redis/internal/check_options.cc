#include <holdfast/engines/redis/internal/check_options.h>

namespace holdfast::engines::redis::internal {

base::Result<void> check_options(const RedisOptions& options) {
  if (options.retention < base::Duration::zero()) {
    return base::fail(base::ErrorCode::invalid_argument, "the retention is negative");
  }
  return {};
}

}  // namespace holdfast::engines::redis::internal
