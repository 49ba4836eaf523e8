#include <holdfast/base/ttl.h>

namespace holdfast::base {

Error Ttl::error() const {
  if (value_ <= Duration::zero()) {
    return {ErrorCode::invalid_argument,
            "the ttl is zero, negative or not a number: pass a positive duration such as 30s; no "
            "lease is without an end"};
  }
  return {
      ErrorCode::invalid_argument,
      "the ttl is too long to count in nanoseconds: no lease is without an end, so pass a ttl of "
      "seconds or minutes, which is renewed while the lock is held"};
}

Error expiry_error(Ttl ttl) {
  if (!ttl.valid()) return ttl.error();
  return {ErrorCode::invalid_argument,
          "the ttl ends beyond what the clock can express: pass a shorter one"};
}

}  // namespace holdfast::base
