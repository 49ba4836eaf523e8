#include <chrono>
#include <cstdio>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/list_names.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/doorbell.h"
#include "apps/holdfast/watching/lease_history.h"

namespace holdfast::cli::commands {

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr Help kHelp{
    .command = "holdfast watch",
    .usage = "[OPTIONS] [NAME | --prefix PREFIX]",
    .about =
        "Print events as they happen: held (when the watch began), acquired, released, expired.\n"
        "Polls the store: a lease that was acquired and released between two polls is not seen.\n"
        "Runs until it is interrupted.\n",
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
    case held: return Colour::yellow;
    case released: return Colour::green;
    case expired: return Colour::red;
  }
  return Colour::bold;
}

std::string time_text(const char* format, const std::tm& time, system_clock::time_point now) {
  const auto fraction = now.time_since_epoch() % std::chrono::seconds(1);
  return fmt::format(fmt::runtime(format), time,
                     std::chrono::duration_cast<milliseconds>(fraction).count());
}

void print_json(const LeaseEvent& event, system_clock::time_point now) {
  Json line{{"event", to_string(event.kind)},
            {"time", time_text("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(now), now)},
            {"name", event.name}};
  line.update(to_json(event.holder));
  print_line(line);
}

void print_text(const LeaseEvent& event, system_clock::time_point now) {
  const std::string kind = fmt::format("{:<8}", to_string(event.kind));
  fmt::print("{}  {}  {}  {}  token {}\n",
             time_text("{:%H:%M:%S}.{:03}", fmt::localtime(system_clock::to_time_t(now)), now),
             paint(colour_of(event.kind), kind), base::printable(event.name),
             holder_text(event.holder), base::to_string(event.holder.token));
  std::fflush(stdout);
}

base::Result<std::vector<store::NameState>> snapshot(store::LeaseStore& store,
                                                     const WatchOptions& options) {
  if (options.name.empty()) {
    return list_names(store, options.prefix);
  }
  auto state = store.look(options.name, answer_deadline());
  if (!state) {
    return std::unexpected(std::move(state).error());
  }
  return *state ? std::vector{**std::move(state)} : std::vector<store::NameState>{};
}

// Only returns when the store fails.
base::Error watch_for_ever(Session& session, const WatchOptions& options) {
  Doorbell doorbell;
  std::optional<base::Result<store::Watch>> hints;
  if (!options.name.empty()) {
    hints = session.store()->watch(options.name, [&](const auto&) { doorbell.ring(); });
  }
  LeaseHistory history;
  for (;;) {
    const auto names = snapshot(*session.store(), options);
    if (!names) {
      return names.error();
    }
    const auto now = system_clock::now();
    for (const LeaseEvent& event : history.update(base::boot_clock().now(), *names)) {
      if (session.json()) {
        print_json(event, now);
      } else {
        print_text(event, now);
      }
    }
    doorbell.wait_for(options.every, {});
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
  return session.report(watch_for_ever(session, options));
}

}  // namespace holdfast::cli::commands
