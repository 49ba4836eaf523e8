#include <holdfast/engines/sqlite/internal/check_options.h>

namespace holdfast::engines::sqlite::internal {

using base::ErrorCode;
using base::fail;

base::Result<void> check_options(const SqliteOptions& options) {
  if (options.busy_timeout <= base::Duration::zero()) {
    return fail(ErrorCode::invalid_argument, "the busy timeout is not positive");
  }
  if (options.retention < base::Duration::zero()) {
    return fail(ErrorCode::invalid_argument, "the retention is negative");
  }
  constexpr std::uint32_t kOfOwner = 0600;
  if (options.mode && (*options.mode > 0777 || (*options.mode & kOfOwner) != kOfOwner)) {
    return fail(ErrorCode::invalid_argument,
                "the mode of the file is not between 0600 and 0777, as in 0660");
  }
  if (options.machine.clock == nullptr || !options.machine.wall_clock) {
    return fail(ErrorCode::invalid_argument, "a clock is missing");
  }
  return {};
}

}  // namespace holdfast::engines::sqlite::internal
