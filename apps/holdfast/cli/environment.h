#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace holdfast::cli {

// Returns the value of a variable, empty if it is not set.
[[nodiscard]] std::string environment(const char* variable);

// Returns the folder that an XDG variable names, or else `otherwise` in the user's home; nothing if
// there is no home. A relative path is ignored: the XDG Base Directory Specification says so.
[[nodiscard]] std::optional<std::filesystem::path> xdg_folder(const char* variable,
                                                              const char* otherwise);

}  // namespace holdfast::cli
