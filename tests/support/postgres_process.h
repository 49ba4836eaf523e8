#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

// Programs of PostgreSQL refuse to run as root: for root they run as the user that Debian's package
// makes. What goes wrong is a std::runtime_error.
namespace holdfast::tests {

inline constexpr const char* kPostgresUser = "postgres";

// Lets such a program write there.
void give_to_postgres(const std::filesystem::path& folder);

// Starts one, which ends with this process. It works in this folder, and writes to the file `log`
// there.
[[nodiscard]] pid_t spawn_as_postgres(std::vector<std::string> arguments,
                                      const std::filesystem::path& folder);

}  // namespace holdfast::tests
