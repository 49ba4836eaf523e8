#pragma once

#include <expected>
#include <functional>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/locks/lock.h>

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
  // Called once, when the lock is lost or about to be, before the command is told.
  std::function<void()> say_lost;
};

// Runs it, told by its environment what is held, and looks after it: how it ended, or what to end
// with where it was not started, which is reported: it could not be executed, or the lock was lost
// already (kLost).
[[nodiscard]] std::expected<Ended, int> run_held(Session& session, const Signals& signals,
                                                 const locks::Lock& lock,
                                                 const HeldCommand& command);

}  // namespace holdfast::cli
