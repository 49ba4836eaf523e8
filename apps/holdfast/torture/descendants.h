#pragma once

#include <sys/types.h>

#include <vector>

namespace holdfast::cli::torture {

// Returns the children of a process, their children, and so on: those that run, and zombies.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t process);

}  // namespace holdfast::cli::torture
