#pragma once

#include "apps/holdfast/cli/command_line.h"
#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

// This process becomes the command, which keeps its descriptors. Only returns if it cannot, which
// it then has reported: what to end with.
int become(Session& session, Arguments command);

}  // namespace holdfast::cli
