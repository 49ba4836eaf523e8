#pragma once

#include <sys/types.h>

#include <cstddef>
#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

// System calls that are repeated when interrupted; an int result is an errno, or zero.
namespace holdfast::fence::internal {

// Opens a file that is closed on exec, without following links. The descriptor is never one of the
// three standard streams, even if those are closed: what the process, or a program that it becomes,
// writes to a stream must not get into the file.
[[nodiscard]] std::expected<int, int> open_file(const std::filesystem::path& file, int flags,
                                                mode_t mode = 0) noexcept;

// Reads as much as there is, up to the size of the buffer.
[[nodiscard]] std::expected<std::size_t, int> read_at_start(int descriptor,
                                                            std::span<char> buffer) noexcept;
[[nodiscard]] int write_all_at(int descriptor, std::string_view bytes, off_t offset) noexcept;

// Syncs the folder, so that a name in it survives a power failure.
[[nodiscard]] int sync_folder_of(const std::filesystem::path& file);

// Returns the file's name, for messages.
[[nodiscard]] std::string name_of(const std::filesystem::path& file);
// Returns "cannot open FILE: …", unavailable.
[[nodiscard]] base::Error failure(std::string_view what, const std::filesystem::path& file,
                                  int error);

}  // namespace holdfast::fence::internal
