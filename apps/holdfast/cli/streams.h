#pragma once

#include <string_view>

namespace holdfast::cli {

// Gives the program standard streams that lead nowhere in place of those that are closed: a file
// that is opened later must not be taken for one of them. First of all.
void open_missing_streams();

// To standard error, at once. If that fails there is nobody left to tell.
void write_error(std::string_view text) noexcept;

}  // namespace holdfast::cli
