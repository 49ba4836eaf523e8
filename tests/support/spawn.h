#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::tests {

// Starts a program that ends with this process, if it was not ended before; its id. Call it from a
// thread that stays. If there is no room for it: a std::runtime_error.
[[nodiscard]] pid_t spawn(const std::vector<std::string>& words);

// A program that was started with pipes. Its owner closes both descriptors.
struct PipedProcess {
  pid_t process = -1;
  int input = -1;   // what is written here, the program reads; closed with this process
  int output = -1;  // what the program prints
};
[[nodiscard]] PipedProcess spawn_piped(const std::vector<std::string>& words);

// Returns whether it has ended by itself.
[[nodiscard]] bool has_ended(pid_t process);

// To this process alone: an id that stands for many, or for none, is a std::logic_error.
void send_signal(pid_t process, int signal);

// Ends it at once, and waits until it is gone.
void kill_and_wait(pid_t process);

}  // namespace holdfast::tests
