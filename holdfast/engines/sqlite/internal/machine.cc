#include <holdfast/engines/sqlite/internal/machine.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include <holdfast/base/try.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::Duration;
using base::ErrorCode;
using base::fail;
using base::Result;

Result<std::string> kernel_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  if (!std::getline(file, id) || id.empty()) {
    return fail(ErrorCode::unavailable,
                "/proc/sys/kernel/random/boot_id cannot be read: mount /proc, for without it "
                "leases from before a reboot would seem to be held");
  }
  return id;
}

// The offsets are those that the children of this process have.
bool shares_time_with_children() {
  std::error_code ignored;
  const auto own = std::filesystem::read_symlink("/proc/self/ns/time", ignored);
  return own == std::filesystem::read_symlink("/proc/self/ns/time_for_children", ignored);
}

Result<Duration> kernel_boot_clock_ahead() {
  if (!shares_time_with_children()) {
    return fail(ErrorCode::unsupported,
                "this process has unshared its time namespace, and only its children are in the "
                "new one: open the store there");
  }
  std::ifstream file("/proc/self/timens_offsets");
  if (!file) {
    return Duration::zero();  // a kernel without time namespaces
  }
  return boot_clock_ahead(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace

Result<Machine> complete(Machine machine) {
  if (machine.boot_id.empty()) {
    HOLDFAST_TRY_LET(std::string id, kernel_boot_id());
    machine.boot_id = std::move(id);
  }
  if (machine.clock == &base::boot_clock()) {
    HOLDFAST_TRY_LET(const Duration ahead, kernel_boot_clock_ahead());
    machine.clock_ahead = ahead;
  }
  return machine;
}

Result<Duration> boot_clock_ahead(std::string_view offsets) {
  std::istringstream lines{std::string(offsets)};
  std::string clock;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  while (lines >> clock >> seconds >> nanoseconds) {
    // Before Linux 5.7 the clocks were numbers; 7 is CLOCK_BOOTTIME.
    if (clock == "boottime" || clock == "7") {
      constexpr std::int64_t kMost =
          std::chrono::floor<std::chrono::seconds>(Duration::max()).count();
      if (seconds > kMost || seconds < -kMost || nanoseconds < 0 || nanoseconds >= 1'000'000'000) {
        break;
      }
      return std::chrono::seconds(seconds) + Duration(nanoseconds);
    }
  }
  return fail(ErrorCode::unsupported,
              "/proc/self/timens_offsets does not say how far the boot clock is moved: the store "
              "cannot be shared from this time namespace");
}

}  // namespace holdfast::engines::sqlite::internal
