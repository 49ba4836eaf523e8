#include <holdfast/recipes/marker.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast marked",
    .usage = "[OPTIONS] KEY",
    .about = "Say whether KEY is marked, and for how long: ends with 0 if it is, with 1 if not.\n",
    .examples =
        "  holdfast marked cache/warm || ./warm\n"
        "  holdfast marked --json cache/warm | jq .time_left_ms"};

}  // namespace

int marked(const Invocation& call) {
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
  const auto left = recipes::Marker(session.store(), {.logger = session.logger()}).time_left(key);
  if (!left) {
    return session.report(left.error());
  }
  if (session.json()) {
    print_line({{"key", key},
                {"marked", left->has_value()},
                {"time_left_ms", *left ? Json(to_ms(**left)) : Json()}});
  } else if (*left) {
    print_output("marked, {} left\n", rough(**left));
  } else {
    print_output("not marked\n");
  }
  return *left ? kSuccess : kFailure;
}

}  // namespace holdfast::cli::commands
