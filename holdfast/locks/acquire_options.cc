#include <holdfast/locks/acquire_options.h>

#include <holdfast/base/try.h>

namespace holdfast::locks {

using base::ErrorCode;
using base::fail;

base::Result<void> check(const AcquireOptions& how, base::Ttl ttl) {
  HOLDFAST_TRY(ttl.checked());
  if (how.renew_every &&
      (*how.renew_every <= base::Duration::zero() || *how.renew_every >= ttl.unchecked())) {
    return fail(ErrorCode::invalid_argument, "renew_every is not between zero and the ttl");
  }
  if (how.wait && *how.wait < base::Duration::zero()) {
    return fail(ErrorCode::invalid_argument, "wait is negative: use zero to try once");
  }
  if (how.max_hold && *how.max_hold <= base::Duration::zero()) {
    return fail(ErrorCode::invalid_argument, "max_hold is not positive");
  }
  return {};
}

}  // namespace holdfast::locks
