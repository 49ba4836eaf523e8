#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "apps/holdfast/child/spawn.h"

namespace holdfast::cli {

namespace {

// exec copies the arguments there if it has to hand a script without #! to the shell.
constexpr std::size_t kLeastStack = std::size_t{64} * 1024;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    all.push_back(const_cast<char*>(text.c_str()));  // exec's signature is older than const
  }
  all.push_back(nullptr);
  return all;
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::vector<std::string> merged_environment(const SpawnOptions& options) {
  std::vector<std::string> merged = options.variables;
  const auto is_replaced = [&](std::string_view variable) {
    return std::ranges::any_of(options.variables, [&](const std::string& replacement) {
      return name_of(replacement) == name_of(variable);
    });
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_replaced(*variable)) {
      merged.emplace_back(*variable);
    }
  }
  return merged;
}

}  // namespace

Spawn::Spawn(SpawnOptions options)
    : options_(std::move(options)),
      variables_(merged_environment(options_)),
      arguments_(pointers(options_.command)),
      environment_(pointers(variables_)),
      stack_size_(kLeastStack + (arguments_.size() + 16) * sizeof(char*)),
      stack_(std::make_unique_for_overwrite<std::byte[]>(stack_size_)) {}

// Between clone and exec it shares its parent's memory, so it may only make system calls. Not
// instrumented: a sanitizer's bookkeeping is the parent's, too.
__attribute__((no_sanitize("address", "thread", "undefined"))) int Spawn::child_main(
    void* argument) {
  Spawn& start = *static_cast<Spawn*>(argument);
  if (start.options_.if_orphaned == IfOrphaned::be_killed) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start.parent_) {
      _exit(0);  // it was killed before we said so
    }
  }
  setpgid(0, 0);
  if (start.options_.input == Input::nothing) {
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  }
  if (start.options_.terminal >= 0) {
    tcsetpgrp(start.options_.terminal, getpid());
  }
  sigprocmask(SIG_SETMASK, &start.options_.signal_mask, nullptr);
  execvpe(start.arguments_.front(), start.arguments_.data(), start.environment_.data());
  start.error_ = errno;
  _exit(0);
}

std::expected<pid_t, StartFailure> Spawn::start() {
  parent_ = getpid();
  const auto top =
      reinterpret_cast<std::uintptr_t>(stack_.get() + stack_size_) & ~std::uintptr_t{15};
  // Like vfork, which costs a fraction of fork: we sleep until the child has called exec or ended.
  const pid_t child =
      clone(child_main, reinterpret_cast<void*>(top), CLONE_VM | CLONE_VFORK | SIGCHLD, this);
  if (child < 0) {
    return std::unexpected(StartFailure{StartFailure::Step::process, errno});
  }
  if (error_ != 0) {
    waitpid(child, nullptr, 0);
    return std::unexpected(StartFailure{StartFailure::Step::command, error_});
  }
  return child;
}

}  // namespace holdfast::cli
