#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::cli {

// How the command ends if the processes that look after it are killed.
enum class IfOrphaned : std::uint8_t { live_on, be_killed };

// What a command reads as its standard input.
enum class Input : std::uint8_t { inherited, nothing };

struct SpawnOptions {
  std::vector<std::string> command;  // not empty; found on PATH unless it has a slash
  sigset_t signal_mask{};
  IfOrphaned if_orphaned = IfOrphaned::be_killed;
  Input input = Input::inherited;
};

// A command to be started in a process group of its own, without a shell in between. It gets the
// environment that this process has when the object is made. The constructor allocates everything
// that the start needs: the other functions make system calls only, and so may be called in a
// process that was forked beside other threads.
class Spawn {
 public:
  explicit Spawn(SpawnOptions options);

  static constexpr std::size_t kMostVariables = 16;
  // Adds a variable to the command's environment, NAME=value, or replaces it; kMostVariables at
  // most. The text outlives start().
  void set(char* variable) noexcept;
  // The command has this terminal in the foreground from the start.
  void set_terminal(int descriptor) noexcept { terminal_ = descriptor; }

  // Returns when the command is running: its id, or the errno with which it could not be executed.
  // Call it once, from a thread that lives as long as the command (the kernel ties `be_killed` to
  // it), with SIGTTOU blocked.
  [[nodiscard]] std::expected<pid_t, int> start();

  [[nodiscard]] const SpawnOptions& options() const noexcept { return options_; }

 private:
  static int child_main(void* argument);

  const SpawnOptions options_;
  const std::vector<char*> arguments_;
  std::vector<char*> environment_;  // ends with nullptr; has room for kMostVariables more
  const std::size_t stack_size_;
  const std::unique_ptr<std::byte[]> stack_;
  int terminal_ = -1;
  pid_t parent_ = 0;
  int error_ = 0;  // the child's word to its parent, if it cannot be what it should
};

}  // namespace holdfast::cli
