#include <holdfast/objects/internal/entrance.h>

namespace holdfast::objects::internal {

base::Result<void> Entrance::from_data_hook() {
  return base::fail(base::ErrorCode::invalid_argument,
                    "to_data and from_data may not call the host");
}

base::Result<void> Entrance::stopped() {
  return base::fail(base::ErrorCode::unavailable, "the host is stopped");
}

}  // namespace holdfast::objects::internal
