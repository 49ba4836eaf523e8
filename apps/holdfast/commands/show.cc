#include <holdfast/base/printable.h>
#include <holdfast/locks/waiters.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{.command = "holdfast show",
                     .usage = "[OPTIONS] NAME",
                     .about =
                         "Show the holders of NAME and its waiters. It is no error if the\n"
                         "name is free.\n",
                     .examples =
                         "  holdfast show deploy\n"
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

void print_text(const std::string& name, const std::optional<store::NameState>& state,
                const std::vector<locks::Waiter>& waiters) {
  print_line_of("name", base::printable(name));
  if (state) {
    print_line_of("kind", kind_of(name, *state));
  }
  print_line_of("state", state ? paint(Colour::yellow, "held") : paint(Colour::green, "free"));
  if (state) {
    for (const store::Holder& holder : state->holders) {
      print_holder(holder, state->capacity);
    }
  }
  if (!waiters.empty()) {
    print_output("\n");
  }
  for (const locks::Waiter& waiter : waiters) {
    print_line_of("waiting", waiter_text(waiter));
  }
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
  const auto state = session.store()->look(name, answer_deadline());
  if (!state) {
    return session.report(name, state.error());
  }
  const auto waiters = locks::waiters_for(*session.store(), name, answer_deadline());
  if (!waiters) {
    return session.report(name, waiters.error());
  }
  if (session.json()) {
    Json shown = to_json(name, *state);
    shown.update({{"waiters", to_json(*waiters)}});
    print_line(shown);
  } else {
    print_text(name, *state, *waiters);
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
