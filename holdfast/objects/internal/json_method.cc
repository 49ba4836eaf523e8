#include <holdfast/objects/internal/json_method.h>

namespace holdfast::objects::internal {

base::Error bad_request() {
  base::Error error = current_failure();
  return {base::ErrorCode::invalid_argument, "the request does not fit: " + error.message};
}

}  // namespace holdfast::objects::internal
