#include <fmt/core.h>

#include <holdfast/base/ids.h>
#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast renew",
    .usage = "[OPTIONS] NAME LEASE_ID",
    .about =
        "Renew a lease of 'holdfast acquire' to --ttl from now; never shortens it.\n"
        "Exits with 79 if it has expired or was stolen: stop, and acquire again.\n",
    .examples = "  holdfast renew deploy \"$lease\" --ttl 10m || exit"};

}  // namespace

int renew(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string name;
  base::LeaseId id;
  base::Duration ttl = std::chrono::seconds(30);
  CommandLine line(kHelp);
  line.positional("NAME", "The name that is held", into(name), Presence::required);
  line.positional("LEASE_ID", "The id that 'holdfast acquire' printed", into(id),
                  Presence::required);
  line.option("--ttl", "DURATION", "How long from now (default: 30s)", into(ttl));
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const store::Renewal renewal{.name = name, .id = id, .ttl = ttl};
  const auto outcomes = session.store()->renew({&renewal, 1}, answer_deadline());
  if (!outcomes) {
    return session.report(name, outcomes.error());
  }
  const bool renewed = outcomes->front() == store::RenewOutcome::renewed;
  if (session.json()) {
    print_line({{"name", name},
                {"lease_id", base::to_string(id)},
                {"outcome", renewed ? "renewed" : "lost"},
                {"ttl_ms", to_ms(ttl)}});
    return renewed ? kSuccess : kLost;
  }
  return renewed ? kSuccess
                 : session.report(
                       {base::ErrorCode::lost, "the lease on " + base::printable(name) +
                                                   " has expired or was stolen: acquire it again"});
}

}  // namespace holdfast::cli::commands
