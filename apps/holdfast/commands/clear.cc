#include <holdfast/recipes/marker.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast clear",
    .usage = "[OPTIONS] KEY",
    .about =
        "Remove the mark of KEY, whichever caller set it. It is no error if KEY is not marked.\n"
        "Locks are not touched.\n",
    .examples = "  holdfast clear cache/warm"};

}  // namespace

int clear(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string key;
  CommandLine line(kHelp);
  line.positional("KEY", "The key", into(key), Presence::required);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto outcome = recipes::Marker(session.store(), {.logger = session.logger()}).clear(key);
  if (!outcome) {
    return session.report(outcome.error());
  }
  if (session.json()) {
    const bool cleared = *outcome == recipes::ClearOutcome::cleared;
    print_line({{"key", key}, {"outcome", cleared ? "cleared" : "was_not_marked"}});
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
