#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/internal/connection.h>

namespace holdfast::engines::sqlite::internal {

// The one name by which all processes of this machine know the file: absolute, without symbolic
// links. Its folder must exist, and the file itself must be a regular one if it exists. A link that
// leads to no file yet stands for the file that it names.
[[nodiscard]] base::Result<std::filesystem::path> resolve(const std::filesystem::path& file);

// Makes an empty file with this mode, whatever the umask, and with the group of its folder if this
// process may give it that. Leaves a file that exists as it is.
[[nodiscard]] base::Result<void> make_file(const std::filesystem::path& resolved,
                                           std::uint32_t mode);

// The access that a file needs: a process that may only read it can still list the holders.
enum class Access : std::uint8_t { at_least_read, read_write };

// Opens a store's file, or makes one where there is none (or an empty one). Any other file is left
// as it is:
//
//   unavailable   read-only (where it is empty, or must be written to), may not be opened, disk
//   full, locked by others until the deadline corrupt       not a database, a damaged one, or one
//   with tables, triggers or views not ours conflict      the database of another program
//   unsupported   a store of a later version, or a file system that SQLite cannot share it on
[[nodiscard]] base::Result<std::unique_ptr<Connection>> open_database(
    const std::filesystem::path& resolved, Access access, base::Deadline deadline);

}  // namespace holdfast::engines::sqlite::internal
