#pragma once

#include <sys/types.h>

#include <cstddef>
#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

// System calls that go on where they were interrupted; an int is an errno, or zero.
namespace holdfast::fence::internal {

// Closed on exec, and no link is followed. A descriptor that is none of the three standard streams,
// even where those are closed: what the process, or a program that it becomes, writes to a stream
// must not get into the file.
[[nodiscard]] std::expected<int, int> open_file(const std::filesystem::path& file, int flags,
                                                mode_t mode = 0) noexcept;

// As much as there is, up to the size of the buffer.
[[nodiscard]] std::expected<std::size_t, int> read_at_start(int descriptor,
                                                            std::span<char> buffer) noexcept;
[[nodiscard]] int write_all_at(int descriptor, std::string_view bytes, off_t offset) noexcept;

// So that a name in it is still there after a loss of power.
[[nodiscard]] int sync_folder_of(const std::filesystem::path& file);

// The file's name, for messages.
[[nodiscard]] std::string name_of(const std::filesystem::path& file);
// "cannot open FILE: …", unavailable.
[[nodiscard]] base::Error failure(std::string_view what, const std::filesystem::path& file,
                                  int error);

}  // namespace holdfast::fence::internal
