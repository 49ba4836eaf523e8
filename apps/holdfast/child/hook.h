#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>

#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli {

// The end of a hook.
struct HookEnded {
  int status;  // its exit status, or 128 and the signal that ended it
  // The first signal that asked this program to end meanwhile.
  std::optional<int> asked_to_end{};
};

// A shell command that is run when a lock is acquired or lost, with the same variables as the
// command under the lock. It reads nothing: in the background of a terminal, a read would stop it
// for good. An empty one does nothing.
class Hook {
 public:
  Hook(std::string script, std::vector<std::string> variables, const sigset_t& signal_mask);
  // Lets it live on, and sees to it that it is collected when it ends.
  ~Hook();
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  // Starts it and returns.
  void start();
  // Starts it and blocks until it has ended; success if there is nothing to run. Passes signals on
  // to it, asks it to end when `lost` says so, and kills it `kill_after` that. Calls `tick` at
  // least every `every`.
  [[nodiscard]] HookEnded run(const Signals& signals, const std::stop_token& lost,
                              base::Duration kill_after, base::Duration every,
                              const std::function<void()>& tick);

 private:
  void pass_on(int signal);

  const std::string script_;
  const std::vector<std::string> variables_;
  const sigset_t signal_mask_;
  pid_t id_ = -1;
};

}  // namespace holdfast::cli
