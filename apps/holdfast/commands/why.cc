#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/locks/deadlock.h>
#include <holdfast/locks/waiters.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/recipe_records.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

using base::Result;

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

// The reasons for which a command waits or is skipped.
struct Obstacles {
  std::optional<store::NameState> lock{};
  std::vector<locks::Waiter> waiters{};
  std::vector<locks::Waiter> deadlock{};  // each waits for a name that the next one holds
  RecipeRecords recipes{};
};

Result<Obstacles> obstacles_of(store::LeaseStore& store, const std::string& name) {
  Obstacles found;
  HOLDFAST_TRY_LET(found.lock, store.look(name, answer_deadline()));
  HOLDFAST_TRY_LET(found.waiters, locks::waiters_for(store, name, answer_deadline()));
  if (found.lock) {
    HOLDFAST_TRY_LET(found.deadlock, locks::find_deadlock(store, name, answer_deadline()));
  }
  HOLDFAST_TRY_LET(found.recipes, find_recipe_records(store, name));
  return found;
}

void print_holders(const std::string& name, const store::NameState& state) {
  for (const store::Holder& holder : state.holders) {
    print_output("{} is held by {} ({}), lease {} left{}\n", name, holder_text(holder),
                 permits_text(holder.permits, state.capacity), rough(holder.time_left),
                 holder.foreign ? ": by a program that is not Holdfast" : "");
  }
}

// Returns the name that this waiter of a deadlock holds: the one that the waiter before it waits
// for.
const std::string& held_in(const std::vector<locks::Waiter>& deadlock, std::size_t i) {
  return deadlock[(i + deadlock.size() - 1) % deadlock.size()].name;
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

Json deadlock_json(const std::vector<locks::Waiter>& deadlock) {
  Json all = Json::array();
  for (std::size_t i = 0; i < deadlock.size(); ++i) {
    Json one = to_json(deadlock[i]);
    one.update({{"holds", held_in(deadlock, i)}});
    all.push_back(one);
  }
  return all;
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
  const auto found = obstacles_of(*session.store(), name);
  if (!found) {
    return session.report(name, found.error());
  }
  if (session.json()) {
    Json all = to_json(name, found->lock);
    all.update(
        {{"waiters", to_json(found->waiters)}, {"deadlock", deadlock_json(found->deadlock)}});
    all.update(to_json(found->recipes));
    print_line(all);
  } else {
    print_text(name, *found);
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
