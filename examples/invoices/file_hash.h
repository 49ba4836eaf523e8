#pragma once

#include <filesystem>
#include <string>

#include <holdfast/base/error.h>

namespace invoices {

// SHA-256 of a file's bytes, in hexadecimal digits. invalid_argument where it cannot be read.
[[nodiscard]] holdfast::base::Result<std::string> file_hash(const std::filesystem::path& file);

}  // namespace invoices
