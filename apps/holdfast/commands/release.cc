#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/core.h>

#include <holdfast/base/ids.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

#include "apps/holdfast/child/keeper.h"
#include "apps/holdfast/cli/environment.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast release",
    .usage = "[OPTIONS] [NAME [LEASE_ID]]",
    .about =
        "Release a lease of 'holdfast acquire', or that of 'holdfast hold' in this shell. Exits\n"
        "with 79 if it had expired or was stolen: the work under it was not protected to its end.\n"
        "Never releases another holder's lease.\n",
    .examples =
        "  holdfast release deploy \"$lease\"     of 'acquire'\n"
        "  holdfast release                      of 'hold'"};

// Returns the lease of `hold`, by the variables that the shell has; puts the name in if it is
// empty.
base::Result<base::LeaseId> lease_of_shell(std::string& name) {
  const std::string held = environment("HOLDFAST_NAME");
  const std::string lease = environment("HOLDFAST_LEASE");
  if (lease.empty() || (!name.empty() && name != held)) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "say which lease: NAME and LEASE_ID, or the variables of 'holdfast hold'");
  }
  name = held;
  return base::LeaseId::parse(lease);
}

// Releases a lease that a keeper renews: ends the keeper, which must not take that for a loss.
base::Result<store::ReleaseOutcome> release_for_shell(store::LeaseStore& store,
                                                      const std::string& name,
                                                      const base::LeaseId& id) {
  HOLDFAST_TRY_LET(const auto state, store.look(name, answer_deadline()));
  const bool held =
      state && std::ranges::find(state->holders, id, &store::Holder::id) != state->holders.end();
  if (!held) {
    return store::ReleaseOutcome::not_held;
  }
  const pid_t keeper = std::atoi(environment("HOLDFAST_KEEPER").c_str());
  if (keeper > 0 && !end_keeper(keeper)) {
    return base::fail(base::ErrorCode::unavailable,
                      fmt::format("process {}, which renews the lease, does not end: nothing was "
                                  "released",
                                  keeper));
  }
  HOLDFAST_TRY(store.release(name, id, answer_deadline()));  // if there was no keeper any more
  return store::ReleaseOutcome::released;
}

}  // namespace

int release(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string name;
  std::optional<base::LeaseId> id;
  CommandLine line(kHelp);
  line.positional("NAME", "The name that is held (default: HOLDFAST_NAME)", into(name),
                  Presence::optional);
  line.positional("LEASE_ID", "The id that 'holdfast acquire' printed (default: HOLDFAST_LEASE)",
                  into(id), Presence::optional);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  const bool of_shell = !id;
  if (of_shell) {
    const auto lease = lease_of_shell(name);
    if (!lease) {
      return line.mistake(lease.error().message);
    }
    id = *lease;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto outcome = of_shell ? release_for_shell(*session.store(), name, *id)
                                : session.store()->release(name, *id, answer_deadline());
  if (!outcome) {
    return session.report(name, outcome.error());
  }
  const bool released = *outcome == store::ReleaseOutcome::released;
  if (session.json()) {
    print_line({{"name", name},
                {"lease_id", base::to_string(*id)},
                {"outcome", released ? "released" : "not_held"}});
    return released ? kSuccess : kLost;
  }
  return released ? kSuccess
                  : session.report({base::ErrorCode::not_held,
                                    "the lease on " + base::printable(name) +
                                        " has expired or was stolen: nothing was released"});
}

}  // namespace holdfast::cli::commands
