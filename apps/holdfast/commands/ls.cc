#include <string>
#include <utility>
#include <vector>

#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/entries.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast ls",
    .usage = "[OPTIONS] [PREFIX]",
    .about =
        "List the names that are held, in the order of their bytes, with their holders and\n"
        "waiters: locks, elections, marks (mark/KEY) and what has run once in its period\n"
        "(once/NAME). Throttles hold nothing and are not listed: see 'show'.\n",
    .examples =
        "  holdfast ls               all\n"
        "  holdfast ls deploy/       names that begin with deploy/\n"
        "  holdfast ls --json | jq -r '.names[].name'"};

// Returns how it is held, or what it is if it is no lock of ours.
std::string as_text(const store::NameState& state, const store::Holder& holder) {
  const std::string_view kind = kind_of(state.name.view(), state);
  return kind == "lock" ? permits_text(holder.permits, state.capacity) : std::string(kind);
}

void print_table(const Entries& entries) {
  std::vector<std::vector<std::string>> rows{
      {"NAME", "HELD BY", "FOR", "LEASE LEFT", "AS", "TOKEN", "REASON"}};
  for (const auto& [name, entry] : entries) {
    if (entry.state) {
      for (const store::Holder& holder : entry.state->holders) {
        rows.push_back({base::printable(name), owner_text(holder.owner), rough(holder.held_for),
                        rough(holder.time_left), as_text(*entry.state, holder),
                        base::to_string(holder.token), base::printable(holder.reason)});
      }
    }
    for (const locks::Waiter& waiter : entry.waiters) {
      rows.push_back({base::printable(name), owner_text(waiter.owner), rough(waiter.waited), "-",
                      "waiting", "-", base::printable(waiter.reason)});
    }
  }
  if (rows.size() > 1) {
    print_output("{}", table(rows));
  }
}

void print_json(const Entries& entries) {
  Json all = Json::array();
  for (const auto& [name, entry] : entries) {
    all.push_back(to_json(name, entry));
  }
  print_line({{"names", std::move(all)}});
}

}  // namespace

int ls(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string prefix;
  CommandLine line(kHelp);
  line.positional("PREFIX", "Only names that begin with this", into(prefix), Presence::optional);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto entries = find_entries(*session.store(), prefix);
  if (!entries) {
    return session.report(entries.error());
  }
  if (session.json()) {
    print_json(*entries);
  } else {
    print_table(*entries);
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
