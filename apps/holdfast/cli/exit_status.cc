#include <exception>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/streams.h"

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

int status_of_work(const std::function<int()>& work) {
  try {
    return work();
  } catch (const base::Exception& error) {
    write_error(fmt::format("holdfast: {}\n", base::printable_message(error.error().message)));
    return exit_status(error.code());
  } catch (const std::exception& error) {
    write_error(fmt::format("holdfast: {}\n", base::printable_message(error.what())));
    return kInternal;
  }
}

}  // namespace holdfast::cli
