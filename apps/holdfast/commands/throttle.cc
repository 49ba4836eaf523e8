#include <holdfast/recipes/throttle.h>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/child/become.h"
#include "apps/holdfast/cli/claim_options.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

using recipes::Throttle;

struct ThrottleOptions {
  GlobalOptions global{};
  WaitOptions waiting{};
  std::uint64_t limit = 0;
  base::Duration per{};
  bool sliding = false;
  std::string name{};
  Arguments command{};
};

constexpr Help kHelp{
    .command = "holdfast throttle",
    .usage = "[OPTIONS] --limit N --per DURATION NAME [-- COMMAND…]",
    .about =
        "Pass if fewer than N callers have passed NAME in this window, among all users of the\n"
        "store; otherwise wait. A window is DURATION long and starts with the first pass. Then\n"
        "exec COMMAND, if there is one. Exits with 75 if it cannot pass in time. Nothing is held:\n"
        "several COMMANDs may run at the same time.\n",
    .examples =
        "  holdfast throttle --limit 10 --per 1m api -- curl https://example.org/\n"
        "  holdfast throttle -n --limit 1 --per 1h mail && ./send-mail\n"
        "  holdfast throttle --sliding --limit 100 --per 1s db -- ./query"};

void declare(CommandLine& line, ThrottleOptions& options) {
  line.positional("NAME", "The name of the throttle", into(options.name), Presence::required);
  line.option("--limit", "N", "How many may pass", into(options.limit, 1, store::Permits::kAll));
  line.option("--per", "DURATION", "Length of the window, 100ms to 365d", into(options.per));
  line.flag("--sliding", options.sliding,
            "Limit every interval of that length; otherwise up to 2N pass where two windows meet");
  options.waiting.declare(line);
  options.global.declare(line);
  line.rest(options.command);
}

// What is wrong with them together; empty if nothing is.
std::string_view mistake_in(const ThrottleOptions& options) {
  if (options.limit == 0) {
    return "say how many may pass, as in: --limit 10";
  }
  if (options.per < store::LeaseStore::kMinTtl || options.per > store::LeaseStore::kMaxTtl) {
    return "say in how long, from 100ms to 365d, as in: --per 1m";
  }
  return {};
}

int refuse(Session& session, Throttle& throttle, const ThrottleOptions& options) {
  const auto again = throttle.retry_after(options.name);
  return session.report(
      {base::ErrorCode::busy,
       fmt::format("{} is throttled{}", base::printable(options.name),
                   again ? ": it may pass in " + rough(*again) + ", wait with -w or without -n"
                         : std::string())});
}

int pass(Session& session, const ThrottleOptions& options) {
  Throttle throttle(session.store(),
                    {.limit = static_cast<std::uint32_t>(options.limit),
                     .period = options.per,
                     .window = options.sliding ? store::Window::sliding : store::Window::fixed});
  const auto passed = throttle.pass(options.name, options.waiting.wait());
  if (!passed) {
    return session.report(passed.error());
  }
  if (!*passed) {
    return refuse(session, throttle, options);
  }
  if (!options.command.empty()) {
    return become(session, options.command);
  }
  if (session.json()) {
    const auto hits = throttle.hits(options.name);
    if (!hits) {
      return session.report(hits.error());
    }
    print_line({{"name", options.name}, {"hits", *hits}, {"limit", options.limit}});
  }
  return kSuccess;
}

}  // namespace

int throttle(const Invocation& call) {
  ThrottleOptions options{.global = call.global};
  CommandLine line(kHelp);
  declare(line, options);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (const auto mistake = mistake_in(options); !mistake.empty()) {
    return line.mistake(mistake);
  }
  if (const auto valid = options.waiting.check(); !valid) {
    return line.mistake(valid.error().message);
  }
  Session session(options.global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  return pass(session, options);
}

}  // namespace holdfast::cli::commands
