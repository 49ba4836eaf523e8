#pragma once

#include <string>

#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

// Reports that the command could not be executed, for this errno. Returns the exit code.
int report_not_executed(Session& session, const std::string& command, int error);

}  // namespace holdfast::cli
