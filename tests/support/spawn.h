#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::tests {

// Starts a program that ends with this process, if it was not ended before; its id. Call it from a
// thread that stays.
[[nodiscard]] pid_t spawn(const std::vector<std::string>& words);

// Whether it has ended by itself.
[[nodiscard]] bool has_ended(pid_t process);

// Ends it at once, and waits until it is gone.
void kill_and_wait(pid_t process);

// An empty folder of its own, for a server: …/holdfast-<what>-…
[[nodiscard]] std::filesystem::path make_folder(const std::string& what);

}  // namespace holdfast::tests
