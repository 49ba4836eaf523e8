#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/list_names.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/hint_signal.h"
#include "apps/holdfast/waiting/until.h"
#include "apps/holdfast/watching/lease_history.h"

namespace holdfast::cli::commands {

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr Help kHelp{
    .command = "holdfast watch",
    .usage = "[OPTIONS] [NAME | --prefix PREFIX]",
    .about =
        "Print events as they happen: held (when the watch began), acquired, released, expired, "
        "or\n"
        "ended (one of the two: a poll came too late to tell).\n"
        "Polls the store: a lease that was acquired and released between two polls is not seen.\n"
        "Runs until it is interrupted, also while the store is unreachable.\n",
    .examples =
        "  holdfast watch                       every name\n"
        "  holdfast watch deploy                one name\n"
        "  holdfast watch --json --prefix db/ | jq -r 'select(.event == \"expired\").name'"};

struct WatchOptions {
  GlobalOptions global{};
  std::string name{};
  std::string prefix{};
  base::Duration every = milliseconds(200);
};

Colour colour_of(LeaseEvent::Kind kind) {
  using enum LeaseEvent::Kind;
  switch (kind) {
    case acquired:
    case held:
    case ended: return Colour::yellow;
    case released: return Colour::green;
    case expired: return Colour::red;
  }
  return Colour::bold;
}

void print_json(const LeaseEvent& event, system_clock::time_point now) {
  Json line{{"event", to_string(event.kind)}, {"time", utc_time(now)}, {"name", event.name}};
  line.update(to_json(event.holder));
  print_line(line);
}

void print_text(const LeaseEvent& event, system_clock::time_point now) {
  const std::string kind = fmt::format("{:<8}", to_string(event.kind));
  print_output("{}  {}  {}  {}  token {}\n", local_time(now), paint(colour_of(event.kind), kind),
               base::printable(event.name), holder_text(event.holder),
               base::to_string(event.holder.token));
}

base::Result<std::vector<store::NameState>> snapshot(store::LeaseStore& store,
                                                     const WatchOptions& options) {
  if (options.name.empty()) {
    return list_names(store, options.prefix);
  }
  HOLDFAST_TRY_LET(auto state, store.look(options.name, answer_deadline()));
  return state ? std::vector{*std::move(state)} : std::vector<store::NameState>{};
}

// Prints what has changed, with the time at which it happened.
void print(const Session& session, const std::vector<LeaseEvent>& events, base::TimePoint now) {
  const auto wall = system_clock::now();
  for (const LeaseEvent& event : events) {
    const auto when = wall - std::chrono::duration_cast<system_clock::duration>(now - event.when);
    if (session.json()) {
      print_json(event, when);
    } else {
      print_text(event, when);
    }
  }
}

// Returns only when the store cannot be used, or when nobody can read the output, which `main`
// reports. A store that has answered once and becomes unreachable is asked again.
int watch_for_ever(Session& session, const WatchOptions& options) {
  HintSignal hints_heard;
  std::optional<base::Result<store::Watch>> hints;
  if (!options.name.empty()) {
    hints = session.store()->watch(options.name, [&](const auto&) { hints_heard.notify(); });
  }
  LeaseHistory history;
  bool answered = false;
  for (bool unreachable = false;;) {
    const auto names = snapshot(*session.store(), options);
    if (names) {
      const base::TimePoint now = base::boot_clock().now();
      print(session, history.update(now, *names), now);
      answered = true;
      if (std::exchange(unreachable, false)) {
        session.say("store reachable again");
      }
    } else if (!answered || !may_come_back(names.error())) {
      return session.report(names.error());
    } else if (!std::exchange(unreachable, true)) {
      session.report(
          {names.error().code, "store unreachable: " + names.error().message + ", retrying"});
    }
    if (!flush_output()) {
      return kSuccess;
    }
    hints_heard.wait_for(options.every, {});
  }
}

}  // namespace

int watch(const Invocation& call) {
  WatchOptions options{.global = call.global};
  CommandLine line(kHelp);
  line.positional("NAME", "Only this name", into(options.name), Presence::optional);
  line.option("--prefix", "PREFIX", "Only names that begin with this", into(options.prefix));
  line.option("--every", "DURATION", "Poll interval (default: 200ms)", into(options.every));
  options.global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (!options.name.empty() && !options.prefix.empty()) {
    return line.mistake("NAME and --prefix exclude each other: use one of them");
  }
  if (options.every < milliseconds(1)) {
    return line.mistake("--every must be at least 1ms");
  }
  Session session(options.global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  return watch_for_ever(session, options);
}

}  // namespace holdfast::cli::commands
