#pragma once

#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/sqlite_options.h>

namespace holdfast::engines::sqlite::internal {

// Fills in what the kernel knows: the id of the boot where there is none, and how far a time
// namespace has moved this process's boot clock. ErrorCode::unavailable if /proc cannot be read.
[[nodiscard]] base::Result<Machine> complete(Machine machine);

// Returns how far the boot clock of a process is ahead of the machine's, from the text of its
// /proc/self/timens_offsets. ErrorCode::unsupported if the text is not understood.
[[nodiscard]] base::Result<base::Duration> boot_clock_ahead(std::string_view offsets);

}  // namespace holdfast::engines::sqlite::internal
