#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/locks/waiters.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/recipe_records.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast show",
    .usage = "[OPTIONS] NAME",
    .about =
        "Show the holders of NAME and its waiters, and what 'once', 'throttle' and\n"
        "'mark' keep under NAME. It is no error if the name is free.\n",
    .examples =
        "  holdfast show deploy\n"
        "  holdfast show throttle/api\n"
        "  holdfast show --json deploy | jq .held"};

void print_line_of(std::string_view label, std::string_view value) {
  print_output("{:<10}  {}\n", label, value);
}

void print_holder(const store::Holder& holder, std::uint32_t capacity) {
  print_output("\n");
  print_line_of("held by", owner_text(holder.owner));
  if (!holder.reason.empty()) {
    print_line_of("reason", base::printable(holder.reason));
  }
  print_line_of("as", permits_text(holder.permits, capacity));
  print_line_of("for", rough(holder.held_for));
  print_line_of("lease left", rough(holder.time_left));
  print_line_of("lease id", base::to_string(holder.id));
  print_line_of("token", base::to_string(holder.token));
  if (holder.foreign) {
    print_line_of("note", "held by a program that is not Holdfast");
  }
}

constexpr std::string_view kThrottle = "throttle";

// All that is to be shown of a name.
struct Shown {
  std::string name{};
  std::optional<store::NameState> state{};
  std::vector<locks::Waiter> waiters{};
  RecipeRecords recipes{};

  [[nodiscard]] std::string_view kind() const {
    if (state) {
      return kind_of(name, *state);
    }
    return recipes.throttle && is_throttle(name) ? kThrottle : "";
  }
};

base::Result<Shown> find(store::LeaseStore& store, const std::string& name) {
  Shown shown{.name = name};
  HOLDFAST_TRY_LET(shown.state, store.look(name, answer_deadline()));
  HOLDFAST_TRY_LET(shown.waiters, locks::waiters_for(store, name, answer_deadline()));
  HOLDFAST_TRY_LET(shown.recipes, find_recipe_records(store, name));
  if (!shown.recipes.throttle && is_throttle(name)) {
    HOLDFAST_TRY_LET(shown.recipes.throttle, find_hits(store, name));
  }
  return shown;
}

std::string state_text(const Shown& shown) {
  if (shown.kind() == kThrottle) {
    return paint(Colour::yellow, "counts calls");
  }
  return shown.state ? paint(Colour::yellow, "held") : paint(Colour::green, "free");
}

void print_text(const Shown& shown) {
  print_line_of("name", base::printable(shown.name));
  if (!shown.kind().empty()) {
    print_line_of("kind", shown.kind());
  }
  print_line_of("state", state_text(shown));
  if (shown.state) {
    for (const store::Holder& holder : shown.state->holders) {
      print_holder(holder, shown.state->capacity);
    }
  }
  if (!shown.waiters.empty()) {
    print_output("\n");
  }
  for (const locks::Waiter& waiter : shown.waiters) {
    print_line_of("waiting", waiter_text(waiter));
  }
  if (!shown.recipes.is_empty()) {
    print_output("\n");
  }
  for (const auto& [recipe, text] : lines_of(shown.recipes)) {
    print_line_of(recipe, text);
  }
}

Json to_json(const Shown& shown) {
  Json all = cli::to_json(shown.name, shown.state, shown.kind());
  all.update({{"waiters", cli::to_json(shown.waiters)}});
  all.update(cli::to_json(shown.recipes));
  return all;
}

}  // namespace

int show(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string name;
  CommandLine line(kHelp);
  line.positional("NAME", "The name to show", into(name), Presence::required);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto shown = find(*session.store(), name);
  if (!shown) {
    return session.report(name, shown.error());
  }
  if (session.json()) {
    print_line(to_json(*shown));
  } else {
    print_text(*shown);
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
