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

// The end of the command if the processes that look after it are killed.
enum class IfOrphaned : std::uint8_t { live_on, be_killed };

// The standard input of a command.
enum class Input : std::uint8_t { inherited, nothing };

struct SpawnOptions {
  std::vector<std::string> command;      // not empty; found on PATH unless it has a slash
  std::vector<std::string> variables{};  // NAME=value, on top of the environment
  sigset_t signal_mask{};
  int terminal = -1;  // to have in the foreground from the start; -1: none
  IfOrphaned if_orphaned = IfOrphaned::be_killed;
  Input input = Input::inherited;
};

// The reason why a command does not run.
struct StartFailure {
  enum class Step : std::uint8_t {
    process,  // there is no process for it
    command,  // it cannot be executed
  };
  Step step;
  int error;  // an errno
};

// A command to be started in a process group of its own, without a shell in between. The
// constructor makes everything that the start needs: start() makes system calls only, and so may be
// called in a process that was forked beside other threads.
class Spawn {
 public:
  explicit Spawn(SpawnOptions options);

  // Returns the command's id when it is running, or why it is not. Call it once, from a thread that
  // lives as long as the command (the kernel ties `be_killed` to it), with SIGTTOU blocked.
  [[nodiscard]] std::expected<pid_t, StartFailure> start();

  [[nodiscard]] const SpawnOptions& options() const noexcept { return options_; }

 private:
  static int child_main(void* argument);

  const SpawnOptions options_;
  const std::vector<std::string> variables_;
  const std::vector<char*> arguments_;
  const std::vector<char*> environment_;
  const std::size_t stack_size_;
  const std::unique_ptr<std::byte[]> stack_;
  pid_t parent_ = 0;
  int error_ = 0;  // the child's word to its parent, if it cannot be what it should
};

}  // namespace holdfast::cli
