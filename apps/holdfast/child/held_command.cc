#include "apps/holdfast/child/guardian.h"
#include "apps/holdfast/child/held_command.h"
#include "apps/holdfast/child/job_terminal.h"
#include "apps/holdfast/child/loss_plan.h"
#include "apps/holdfast/child/not_executed.h"
#include "apps/holdfast/cli/exit_status.h"

namespace holdfast::cli {

std::expected<Ended, int> run_held(Session& session, const Signals& signals,
                                   const locks::Lock& lock, const HeldCommand& command) {
  if (!lock.check()) {  // we were stopped just when we got it
    command.say_lost();
    return std::unexpected(kLost);
  }
  JobTerminal terminal;
  const LossPlan plan(command.ttl, command.kill_after);
  const base::TimePoint now = base::boot_clock().now();
  const base::Duration left = lock.time_left();
  const bool guarded = command.on_lost == OnLost::terminate;
  auto guardian =
      Guardian::start({.command = command.command,
                       .variables = {"HOLDFAST_NAME=" + command.name,
                                     "HOLDFAST_TOKEN=" + base::to_string(lock.token()),
                                     "HOLDFAST_OWNER=" + lock.owner(),
                                     "HOLDFAST_STORE=" + session.url_for_command()},
                       .signal_mask = signals.original_mask(),
                       .terminal = terminal.for_start(),
                       .if_orphaned = guarded ? IfOrphaned::be_killed : IfOrphaned::live_on},
                      {.deadlines = guarded ? Deadlines{.term = plan.overdue(now, left),
                                                        .kill = plan.kill_at(now, left)}
                                            : Deadlines{},
                       .background = command.background,
                       .kill_after = command.kill_after});
  if (!guardian) {
    return std::unexpected(report_not_executed(session, command.command.front(), guardian.error()));
  }
  Supervisor supervisor(*guardian, lock, signals, terminal,
                        {.ttl = command.ttl,
                         .kill_after = command.kill_after,
                         .on_lost = command.on_lost,
                         .say_lost = command.say_lost});
  return supervisor.run();
}

}  // namespace holdfast::cli
