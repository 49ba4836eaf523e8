#pragma once

#include <filesystem>

#include "apps/holdfast/doctor/check.h"

namespace holdfast::cli {

// Checks whether a database file lies where it is safe: who else may write to it and to its folder,
// whether the disk has room, and whether it is a disk of this machine.
[[nodiscard]] Checks check_file(const std::filesystem::path& file);

}  // namespace holdfast::cli
