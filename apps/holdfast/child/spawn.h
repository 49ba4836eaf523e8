#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace holdfast::cli {

// What becomes of the command if this process is killed and cannot look after it any more.
enum class IfOrphaned : std::uint8_t { live_on, be_killed };

struct SpawnOptions {
  std::vector<std::string> command;      // not empty; found on PATH unless it has a slash
  std::vector<std::string> variables{};  // NAME=value, on top of the environment
  sigset_t signal_mask{};
  int terminal = -1;  // to have in the foreground from the start; -1: none
  IfOrphaned if_orphaned = IfOrphaned::be_killed;
};

// Starts a command in a process group of its own, without a shell in between; returns when it is
// running: its id, or the errno with which it could not be executed. Call it from a thread that
// lives as long as the command (the kernel ties `be_killed` to it), with SIGTTOU blocked.
[[nodiscard]] std::expected<pid_t, int> spawn(const SpawnOptions& options);

}  // namespace holdfast::cli
