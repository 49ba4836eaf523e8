#include "apps/holdfast/cli/exit_status.h"

namespace holdfast::cli {

int exit_status(base::ErrorCode code) noexcept {
  using enum base::ErrorCode;
  switch (code) {
    case invalid_argument:
    case conflict: return kUsage;
    case busy:
    case timed_out:
    case cancelled:
    case limit_exceeded: return kBusy;
    case lost:
    case not_held: return kLost;
    case unavailable:
    case unknown_outcome:
    case corrupt:
    case unsupported: return kUnavailable;
    case failed:
    case internal: return kInternal;
  }
  return kInternal;
}

}  // namespace holdfast::cli
