#include <holdfast/recipes/throttle.h>

#include <optional>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

#include "apps/holdfast/child/become.h"
#include "apps/holdfast/cli/claim_options.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/acquire_patiently.h"
#include "apps/holdfast/waiting/attend.h"
#include "apps/holdfast/waiting/signals.h"

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
  line.command(options.command);
}

// Returns what is wrong with them together; empty if nothing is.
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
                   again ? " and may pass in " + rough(*again) + ": retry with -w, or without -n"
                         : std::string())});
}

Wait wait_for_pass(Throttle& throttle, const ThrottleOptions& options) {
  return {.name = options.name,
          .at_most = options.waiting.wait(),
          .ask = [&](const base::Deadline&) -> base::Result<Obstacle> {
            HOLDFAST_TRY_LET(const auto again, throttle.retry_after(options.name));
            return Obstacle{.text = "throttled · may pass in " + rough(again),
                            .details = Json{{"retry_after_ms", to_ms(again)}}};
          },
          .style = style_of(options.waiting)};
}

// Returns whether it has passed, or the signal that came first.
base::Result<std::variant<bool, Interrupted>> wait_to_pass(Session& session, Signals& signals,
                                                           Throttle& throttle,
                                                           const ThrottleOptions& options) {
  HOLDFAST_TRY_LET(const bool at_once, throttle.try_pass(options.name));
  if (at_once) {
    return true;
  }
  base::Result<bool> passed = false;
  WaitLine line(session, wait_for_pass(throttle, options));
  const auto signal = attend(signals, line, [&](const std::stop_token& stop) {
    passed = throttle.pass(options.name, options.waiting.wait(), stop);
  });
  if (signal) {
    return Interrupted{*signal};
  }
  HOLDFAST_TRY(passed);
  return *passed;
}

int pass(Session& session, std::optional<Signals>& signals, const ThrottleOptions& options) {
  Throttle throttle(session.store(),
                    {.limit = static_cast<std::uint32_t>(options.limit),
                     .period = options.per,
                     .window = options.sliding ? store::Window::sliding : store::Window::fixed});
  const auto outcome = wait_to_pass(session, *signals, throttle, options);
  if (!outcome) {
    return session.report(outcome.error());
  }
  if (const auto* const interrupted = std::get_if<Interrupted>(&*outcome)) {
    return kSignalled + interrupted->signal;
  }
  if (!std::get<bool>(*outcome)) {
    return refuse(session, throttle, options);
  }
  signals.reset();  // the command gets them as they were
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
  std::optional<Signals> signals(std::in_place);  // before any thread
  Session session(options.global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  return pass(session, signals, options);
}

}  // namespace holdfast::cli::commands
