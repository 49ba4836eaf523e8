#pragma once

#include <expected>
#include <functional>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/locks/lock.h>

#include "apps/holdfast/child/guardian.h"
#include "apps/holdfast/child/supervisor.h"
#include "apps/holdfast/cli/command_line.h"
#include "apps/holdfast/cli/session.h"
#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli {

// A command to be run while a name is held.
struct HeldCommand {
  std::string name;
  Arguments command;  // not empty
  base::Duration ttl;
  base::Duration kill_after;
  OnLost on_lost = OnLost::terminate;
  Background background = Background::keep;
  std::string on_acquire{};  // shell commands, see Hook
  std::string on_loss{};
  // The status that the service manager shows while the command runs.
  std::string status{};
  // Called once, when the lock is lost or about to be, before the command gets a signal.
  std::function<void()> say_lost;
  // Starts the threads of a provider with Keeping::on_request. Called before `on_acquire` runs, or
  // when the command has run for a moment.
  std::function<base::Result<void>()> start_keeping{};
};

// Declares --on-acquire and --on-loss.
void declare_hooks(CommandLine& line, std::string& on_acquire, std::string& on_loss);

// The reason why a command was not started, which is reported: it could not be executed, there was
// no thread to renew its lock with, `on_acquire` failed, or the lock was lost already.
struct NotStarted {
  int status;  // the exit code
  bool lost = false;
};

// The end of such a command. Its guardian is leaving; the destructor waits for it.
struct HeldEnded : Ended {
  Guardian guardian;
};

// Runs it, told by its environment what is held, and looks after it. Returns how it ended.
[[nodiscard]] std::expected<HeldEnded, NotStarted> run_held(Session& session,
                                                            const Signals& signals,
                                                            const locks::Lock& lock,
                                                            const HeldCommand& command);

// Starts `on_loss`, for a loss that is found after run_held() has returned.
void start_on_loss(const Session& session, const Signals& signals, const locks::Lock& lock,
                   const HeldCommand& command);

}  // namespace holdfast::cli
