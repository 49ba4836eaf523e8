#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/child/held_command.h"
#include "apps/holdfast/child/hook.h"
#include "apps/holdfast/child/job_terminal.h"
#include "apps/holdfast/child/loss_plan.h"
#include "apps/holdfast/child/not_executed.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/outer_leases.h"

namespace holdfast::cli {

namespace {

std::vector<std::string> variables(const Session& session, const locks::Lock& lock,
                                   const HeldCommand& command) {
  return {"HOLDFAST_NAME=" + command.name, "HOLDFAST_TOKEN=" + base::to_string(lock.token()),
          "HOLDFAST_OWNER=" + lock.owner(),
          "HOLDFAST_LEASES=" + with_lease(outer_leases(), lock.id()),
          "HOLDFAST_STORE=" + session.url_for_command(),
          // Those of an outer `hold`, which the command must not end by `holdfast release`.
          "HOLDFAST_LEASE=", "HOLDFAST_KEEPER="};
}

// Returns why the command must not run: the hook failed, a signal asked to end, or the lock was
// lost meanwhile.
std::optional<NotStarted> run_on_acquire(Session& session, const Signals& signals,
                                         const locks::Lock& lock, const HeldCommand& command,
                                         Hook&& hook) {
  const HookEnded ended = hook.run(
      signals, command.on_lost == OnLost::terminate ? lock.lost() : std::stop_token(),
      command.kill_after, session.service().interval(), [&session] { session.service().alive(); });
  if (ended.asked_to_end) {
    return NotStarted{.status = kSignalled + *ended.asked_to_end};
  }
  if (!lock.check()) {  // or we were stopped just when we got it
    return NotStarted{.status = kLost, .lost = true};
  }
  if (ended.status == kSuccess) {
    return std::nullopt;
  }
  session.report({base::ErrorCode::failed,
                  fmt::format("--on-acquire of {} failed with status {}: the command is not run",
                              base::printable(command.name), ended.status)});
  return NotStarted{.status = ended.status};
}

}  // namespace

void declare_hooks(CommandLine& line, std::string& on_acquire, std::string& on_loss) {
  line.option("--on-acquire", "SCRIPT",
              "Shell command to run before COMMAND; if it fails, COMMAND is not run",
              into(on_acquire));
  line.option("--on-loss", "SCRIPT", "Shell command to start when the lock is lost", into(on_loss));
}

void start_on_loss(const Session& session, const Signals& signals, const locks::Lock& lock,
                   const HeldCommand& command) {
  Hook(command.on_loss, variables(session, lock, command), signals.original_mask()).start();
}

std::expected<HeldEnded, NotStarted> run_held(Session& session, const Signals& signals,
                                              const locks::Lock& lock, const HeldCommand& command) {
  const auto environment = variables(session, lock, command);
  Hook on_loss(command.on_loss, environment, signals.original_mask());
  const auto say_lost = [&] {
    command.say_lost();
    on_loss.start();
  };
  auto start_keeping = command.start_keeping;
  if (!command.on_acquire.empty() && start_keeping) {
    if (const auto started = std::exchange(start_keeping, nullptr)(); !started) {
      return std::unexpected(NotStarted{.status = session.report(started.error())});
    }
  }
  if (const auto not_started =
          run_on_acquire(session, signals, lock, command,
                         Hook(command.on_acquire, environment, signals.original_mask()))) {
    if (not_started->lost) {
      say_lost();
    }
    return std::unexpected(*not_started);
  }
  JobTerminal terminal;
  const LossPlan plan(command.ttl, command.kill_after);
  const base::TimePoint now = base::boot_clock().now();
  const base::Duration left = lock.time_left();
  const bool guarded = command.on_lost == OnLost::terminate;
  auto guardian =
      Guardian::start({.command = command.command,
                       .variables = environment,
                       .signal_mask = signals.original_mask(),
                       .terminal = terminal.for_start(),
                       .if_orphaned = guarded ? IfOrphaned::be_killed : IfOrphaned::live_on},
                      {.deadlines = guarded ? Deadlines{.term = plan.overdue(now, left),
                                                        .kill = plan.kill_at(now, left)}
                                            : Deadlines{},
                       .background = command.background,
                       .kill_after = command.kill_after});
  if (!guardian) {
    return std::unexpected(NotStarted{
        .status = report_not_started(session, command.command.front(), guardian.error())});
  }
  session.service().ready(command.status);
  Supervisor supervisor(*guardian, lock, signals, terminal,
                        {.ttl = command.ttl,
                         .kill_after = command.kill_after,
                         .on_lost = command.on_lost,
                         .say_lost = say_lost,
                         .every = session.service().interval(),
                         .tick = [&session] { session.service().alive(); },
                         .start_keeping = std::move(start_keeping)});
  const Ended ended = supervisor.run();
  guardian->leave();
  return HeldEnded{ended, *std::move(guardian)};
}

}  // namespace holdfast::cli
