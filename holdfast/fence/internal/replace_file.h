#pragma once

#include <filesystem>
#include <string_view>

#include <holdfast/base/error.h>

namespace holdfast::fence::internal {

// Replaces the file by one with these bytes, in one step for all who read it, also across a crash;
// what a crash leaves in `scratch`, a file of the same folder, the next call takes away. One caller
// at a time. The file keeps its permissions, but not its owner, not the right to run as its owner
// or group (setuid, setgid), and not its other names. Until it is whole, nobody but its owner can
// read what replaces a file.
//
// Errors: invalid_argument for what is there and no regular file; unavailable, nothing was changed;
// unknown_outcome, the new contents are there, but may not survive a loss of power.
[[nodiscard]] base::Result<void> replace_file(const std::filesystem::path& file,
                                              const std::filesystem::path& scratch,
                                              std::string_view bytes);

}  // namespace holdfast::fence::internal
