#include <optional>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/recipes/marker.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

using base::Result;

constexpr Help kHelp{
    .command = "holdfast mark",
    .usage = "[OPTIONS] KEY --ttl DURATION",
    .about =
        "Mark KEY for the ttl, or replace its mark: an expiring flag, which excludes nothing. "
        "With\n"
        "--if-clear mark it only if it is not marked, otherwise exit with 75: exactly one caller\n"
        "wins the race.\n",
    .examples =
        "  holdfast mark cache/warm --ttl 10m\n"
        "  holdfast mark --if-clear mail/$id --ttl 1h && ./send $id\n"
        "  holdfast marked cache/warm || ./warm"};

struct MarkOptions {
  GlobalOptions global{};
  std::string key{};
  std::optional<base::Duration> ttl{};
  bool if_clear = false;
};

// Returns whether it was marked by us.
Result<bool> set(Session& session, const MarkOptions& options) {
  recipes::Marker marker(session.store(), {.logger = session.logger()});
  if (!options.if_clear) {
    const auto marked = marker.mark(options.key, *options.ttl);
    return marked ? Result<bool>(true) : std::unexpected(marked.error());
  }
  HOLDFAST_TRY_LET(auto ours, marker.try_mark(options.key, *options.ttl));
  if (ours) {
    ours->keep();
  }
  return ours.has_value();
}

}  // namespace

int mark(const Invocation& call) {
  MarkOptions options{.global = call.global};
  CommandLine line(kHelp);
  line.positional("KEY", "The key to mark", into(options.key), Presence::required);
  line.option("--ttl", "DURATION", "Lifetime of the mark, 100ms to 365d; required",
              into(options.ttl));
  line.flag("--if-clear", options.if_clear, "Only if it is not marked");
  options.global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (!options.ttl) {
    return line.mistake("say how long the mark lasts, as in --ttl 10m");
  }
  Session session(options.global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto marked = set(session, options);
  if (!marked) {
    return session.report(marked.error());
  }
  if (session.json()) {
    print_line({{"key", options.key},
                {"outcome", *marked ? "marked" : "was_marked"},
                {"ttl_ms", to_ms(*options.ttl)}});
    return *marked ? kSuccess : kBusy;
  }
  return *marked ? kSuccess
                 : session.report({base::ErrorCode::busy,
                                   base::printable(options.key) + " is marked already"});
}

}  // namespace holdfast::cli::commands
