#include <cerrno>
#include <system_error>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/child/not_executed.h"
#include "apps/holdfast/cli/exit_status.h"

namespace holdfast::cli {

int report_not_executed(Session& session, const std::string& command, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  session.report(
      {base::ErrorCode::invalid_argument,
       fmt::format(
           "cannot execute {}: {}{}", base::printable(command),
           std::generic_category().message(error),
           missing && command.find('/') == std::string::npos ? "; is it on the PATH?" : "")});
  return missing ? kNotFound : kNotExecutable;
}

int report_not_started(Session& session, const std::string& command, const StartFailure& failure) {
  if (failure.step == StartFailure::Step::command) {
    return report_not_executed(session, command, failure.error);
  }
  session.report({base::ErrorCode::failed,
                  fmt::format("cannot start a process for {}: {}", base::printable(command),
                              std::generic_category().message(failure.error))});
  return kNotExecutable;
}

}  // namespace holdfast::cli
