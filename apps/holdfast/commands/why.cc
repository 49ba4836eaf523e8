#include <cstddef>
#include <string>
#include <vector>

#include <holdfast/base/printable.h>
#include <holdfast/locks/waiters.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/obstacles.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/recipe_records.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast why",
    .usage = "[OPTIONS] NAME",
    .about =
        "Say why a command for NAME waits or is skipped: who holds the name, since when and for\n"
        "how long; which callers wait for it; the deadlock that its holder is part of, or waits\n"
        "for; that 'once' has run in this period; how many have passed the throttle; that the key\n"
        "is marked. It is no error if nothing is in the way.\n",
    .examples =
        "  holdfast why deploy\n"
        "  holdfast why --json nightly | jq .once"};

void print_holders(const std::string& name, const store::NameState& state) {
  for (const store::Holder& holder : state.holders) {
    print_output("{} is held by {} ({}), lease {} left{}\n", name, holder_text(holder),
                 permits_text(holder.permits, state.capacity), rough(holder.time_left),
                 holder.foreign ? ": by a program that is not Holdfast" : "");
  }
}

void print_deadlock(const std::vector<locks::Waiter>& deadlock) {
  if (deadlock.empty()) {
    return;
  }
  print_output("deadlock of {}: end one of them, or one of their leases with 'holdfast steal'\n",
               deadlock.size());
  for (std::size_t i = 0; i < deadlock.size(); ++i) {
    print_output("  {} holds {} and has waited {} for {}\n", owner_text(deadlock[i].owner),
                 base::printable(held_in(deadlock, i)), rough(deadlock[i].waited),
                 base::printable(deadlock[i].name));
  }
}

void print_text(const std::string& name, const Obstacles& found) {
  const std::string shown = base::printable(name);
  if (found.lock) {
    print_holders(shown, *found.lock);
  }
  for (const locks::Waiter& waiter : found.waiters) {
    print_output("waiting: {}\n", waiter_text(waiter));
  }
  print_deadlock(found.deadlock);
  for (const auto& [recipe, text] : lines_of(found.recipes)) {
    print_output("{}: {}\n", recipe, text);
  }
  if (!found.lock && found.waiters.empty() && found.recipes.is_empty()) {
    print_output("{} is free\n", shown);
  }
}

}  // namespace

int why(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string name;
  CommandLine line(kHelp);
  line.positional("NAME", "The name, as 'run', 'once', 'throttle' or 'mark' got it", into(name),
                  Presence::required);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto found = find_obstacles(*session.store(), name);
  if (!found) {
    return session.report(name, found.error());
  }
  if (session.json()) {
    print_line(to_json(name, *found));
  } else {
    print_text(name, *found);
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
