#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string_view>

#include "apps/holdfast/child/spawn.h"

namespace holdfast::cli {

namespace {

// Everything that the child needs, made beforehand: between clone and exec it shares our memory, so
// it may only make system calls.
struct Start {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const SpawnOptions& options;
  pid_t parent;
  int error = 0;  // the child's word to us, if it cannot be what it should
};

// Not instrumented: a sanitizer's bookkeeping is ours, too.
__attribute__((no_sanitize("address", "thread", "undefined"))) int child_main(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  if (start.options.if_orphaned == IfOrphaned::be_killed) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start.parent) {
      _exit(0);  // it was killed before we said so
    }
  }
  setpgid(0, 0);
  if (start.options.terminal >= 0) {
    tcsetpgrp(start.options.terminal, getpid());
  }
  sigprocmask(SIG_SETMASK, &start.options.signal_mask, nullptr);
  execvpe(start.arguments.front(), start.arguments.data(), start.environment.data());
  start.error = errno;
  _exit(0);
}

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

std::expected<pid_t, int> spawn(const SpawnOptions& options) {
  const std::vector<std::string> environment = merged_environment(options);
  Start start{.arguments = pointers(options.command),
              .environment = pointers(environment),
              .options = options,
              .parent = getpid()};
  // exec copies the arguments there if it has to hand a script without #! to the shell.
  constexpr std::size_t kLeastStack = std::size_t{64} * 1024;
  const std::size_t size = kLeastStack + (start.arguments.size() + 16) * sizeof(char*);
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(size);
  const auto top = reinterpret_cast<std::uintptr_t>(stack.get() + size) & ~std::uintptr_t{15};
  // As vfork, which costs a fraction of fork: we sleep until the child has called exec or ended.
  const pid_t child =
      clone(child_main, reinterpret_cast<void*>(top), CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
  if (child < 0) {
    return std::unexpected(errno);
  }
  if (start.error != 0) {
    waitpid(child, nullptr, 0);
    return std::unexpected(start.error);
  }
  return child;
}

}  // namespace holdfast::cli
