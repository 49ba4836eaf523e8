#include <holdfast/recipes/once.h>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/child/held_command.h"
#include "apps/holdfast/child/story.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli::commands {

namespace {

using store::LeaseStore;

struct OnceOptions {
  GlobalOptions global{};
  base::Duration per{};
  std::optional<base::Duration> retry{};
  std::uint64_t skipped_status = kSuccess;
  base::Duration kill_after = std::chrono::seconds(5);
  std::string owner{};
  std::string name{};
  Arguments command{};
};

constexpr Help kHelp{
    .command = "holdfast once",
    .usage = "[OPTIONS] --per DURATION NAME -- COMMAND…",
    .about =
        "Run COMMAND unless it is running, or started less than DURATION ago, on any machine that\n"
        "uses the store; exit with COMMAND's status. For jobs that several machines schedule:\n"
        "make DURATION a little shorter than the time between two runs. A command that fails\n"
        "counts as run; one that cannot be executed (126, 127) does not.\n",
    .examples =
        "  holdfast once --per 50m hourly-report -- ./report\n"
        "  holdfast once --per 23h --retry 10m backup -- ./backup   again after a crash\n"
        "  holdfast once --per 1h -E 3 sync -- ./sync || echo skipped or failed"};

void declare(CommandLine& line, OnceOptions& options) {
  line.positional("NAME", "The name of the job", into(options.name), Presence::required);
  line.option("--per", "DURATION", "Period, from start to start, 100ms to 365d", into(options.per));
  line.option("--retry", "DURATION",
              "When to try again after a crash, at most --per (default: --per)",
              into(options.retry));
  line.option("-E,--skipped-status", "CODE", "Exit code when COMMAND is skipped (default: 0)",
              into(options.skipped_status, 0, 255));
  line.option("--kill-after", "DURATION",
              "Longest time from TERM to KILL after a loss (default: 5s)",
              into(options.kill_after));
  line.option("--owner", "TEXT", "Human-readable owner label (default: user@host:pid)",
              into(options.owner));
  options.global.declare_pass_password(line);
  options.global.declare(line);
  line.command(options.command);
}

bool fits(base::Duration time) {
  return time >= LeaseStore::kMinTtl && time <= LeaseStore::kMaxTtl;
}

std::string_view mistake_in(const OnceOptions& options) {
  if (options.command.empty()) {
    return "say what to run, as in: holdfast once --per 1h NAME -- COMMAND";
  }
  if (!fits(options.per)) {
    return "say how long not again, from 100ms to 365d, as in: --per 1h";
  }
  if (options.retry && !fits(*options.retry)) {
    return "--retry must be from 100ms to 365d";
  }
  if (options.retry && *options.retry > options.per) {
    return "--retry is longer than --per: leave it out, or make it shorter";
  }
  return {};
}

int run_once(Session& session, Signals& signals, const OnceOptions& options) {
  Story story(session, options.name, options.retry.value_or(options.per));
  locks::LockProvider provider(session.store(), story.provider_options(options.owner));
  recipes::Once once(
      provider,
      {.period = options.per,
       .retry_after_crash = options.retry ? std::optional<base::Ttl>(*options.retry) : std::nullopt,
       .logger = session.logger()});
  int status = kSuccess;
  const auto work = [&](const locks::Lock& lock) {
    const auto ended = run_held(
        session, signals, lock,
        {.name = options.name,
         .command = options.command,
         .ttl = options.retry.value_or(options.per),
         .kill_after = options.kill_after,
         .say_lost = [&] {
           session.report({base::ErrorCode::lost,
                           fmt::format("lost {}: {}; ending the command",
                                       base::printable(options.name), story.cause_of_loss())});
         }});
    status = !ended ? ended.error().status : ended->lost ? kLost : ended->status;
    return ended.has_value();
  };
  const auto outcome = once.attempt(options.name, work);
  if (!outcome) {
    return session.report(outcome.error());
  }
  if (*outcome == recipes::OnceOutcome::skipped) {
    session.tell("skipped", options.name,
                 fmt::format("skipped: {} is running or has already run in this period",
                             base::printable(options.name)));
    return static_cast<int>(options.skipped_status);
  }
  return status;
}

}  // namespace

int once(const Invocation& call) {
  OnceOptions options{.global = call.global};
  CommandLine line(kHelp);
  declare(line, options);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (const auto mistake = mistake_in(options); !mistake.empty()) {
    return line.mistake(mistake);
  }
  Signals signals;  // before any thread
  Session session(options.global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  return run_once(session, signals, options);
}

}  // namespace holdfast::cli::commands
