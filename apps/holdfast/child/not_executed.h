#pragma once

#include <string>

#include "apps/holdfast/child/spawn.h"
#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

// Reports that the command could not be executed, for this errno. Returns the exit code.
int report_not_executed(Session& session, const std::string& command, int error);
// The same of a command that may not even have got a process.
int report_not_started(Session& session, const std::string& command, const StartFailure& failure);

}  // namespace holdfast::cli
