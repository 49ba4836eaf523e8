#pragma once

#include <string>

#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

// Says that the command could not be executed, for this errno; what to end with.
int report_not_executed(Session& session, const std::string& command, int error);

}  // namespace holdfast::cli
