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
