#pragma once

#include <filesystem>
#include <string>

#include <holdfast/base/error.h>

namespace invoices {

// Returns the SHA-256 of a file's bytes in hexadecimal; invalid_argument if it cannot be read.
[[nodiscard]] holdfast::base::Result<std::string> file_hash(const std::filesystem::path& file);

}  // namespace invoices
