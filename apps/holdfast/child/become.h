#pragma once

#include "apps/holdfast/cli/command_line.h"
#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

// Executes the command in this process, with its descriptors. Returns only if it cannot: reports
// that, and returns the exit code.
int become(Session& session, Arguments command);

}  // namespace holdfast::cli
