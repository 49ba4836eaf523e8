#pragma once

#include <filesystem>
#include <string_view>

#include <holdfast/base/error.h>

namespace holdfast::fence::internal {

// Replaces the file with these bytes, in one step for all readers, even across a crash. A crash may
// leave `scratch`, a file in the same folder, behind; the next call removes it. One caller at a
// time. The file keeps its permissions, but not its owner, its setuid and setgid bits, or its other
// names. Until the new file is complete, only its owner can read it.
//
// Errors: invalid_argument if the path is not a regular file; unavailable, nothing was changed;
// unknown_outcome, the new contents are there, but may not survive a power failure.
[[nodiscard]] base::Result<void> replace_file(const std::filesystem::path& file,
                                              const std::filesystem::path& scratch,
                                              std::string_view bytes);

}  // namespace holdfast::fence::internal
