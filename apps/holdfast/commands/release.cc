#include <fmt/core.h>

#include <holdfast/base/ids.h>
#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast release",
    .usage = "[OPTIONS] NAME LEASE_ID",
    .about =
        "Release a lease of 'holdfast acquire'. Exits with 79 if it had expired or was stolen: "
        "the\n"
        "work under it was not protected to its end. Never releases another holder's lease.\n",
    .examples = "  holdfast release deploy \"$lease\""};

}  // namespace

int release(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string name;
  base::LeaseId id;
  CommandLine line(kHelp);
  line.positional("NAME", "The name that is held", into(name), Presence::required);
  line.positional("LEASE_ID", "The id that 'holdfast acquire' printed", into(id),
                  Presence::required);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto outcome = session.store()->release(name, id, answer_deadline());
  if (!outcome) {
    return session.report(name, outcome.error());
  }
  const bool released = *outcome == store::ReleaseOutcome::released;
  if (session.json()) {
    print_line({{"name", name},
                {"lease_id", base::to_string(id)},
                {"outcome", released ? "released" : "not_held"}});
    return released ? kSuccess : kLost;
  }
  return released ? kSuccess
                  : session.report({base::ErrorCode::not_held,
                                    "this lease on " + base::printable(name) +
                                        " was over or taken away before; nothing was released"});
}

}  // namespace holdfast::cli::commands
