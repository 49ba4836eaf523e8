#include <poll.h>

#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/options_for.h>

#include "apps/holdfast/child/held_command.h"
#include "apps/holdfast/child/story.h"
#include "apps/holdfast/cli/claim_options.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/acquire_patiently.h"
#include "apps/holdfast/waiting/signals.h"
#include "apps/holdfast/waiting/until.h"

namespace holdfast::cli::commands {

namespace {

using store::LeaseStore;

struct ElectOptions {
  GlobalOptions global{};
  base::Duration ttl = std::chrono::seconds(30);
  base::Duration kill_after = std::chrono::seconds(5);
  std::string owner{};
  std::string on_acquire{};
  std::string on_loss{};
  std::string name{};
  Arguments command{};
};

constexpr Help kHelp{
    .command = "holdfast elect",
    .usage = "[OPTIONS] NAME -- COMMAND…",
    .about =
        "Campaign for NAME; when elected, run COMMAND with the term's token in HOLDFAST_TOKEN. If\n"
        "the term is lost, end COMMAND and campaign again, as soon as the store is reachable.\n"
        "When COMMAND exits, resign and exit with its status. `holdfast show NAME` shows the\n"
        "leader.\n",
    .examples =
        "  holdfast elect scheduler -- ./scheduler         start it on every machine\n"
        "  holdfast elect --ttl 5s primary -- ./serve      another leads 5s after a crash"};

void declare(CommandLine& line, ElectOptions& options) {
  line.positional("NAME", "The name of the election: 1 to 1024 bytes", into(options.name),
                  Presence::required);
  line.option("--ttl", "DURATION", "How long after a crash another leads (default: 30s)",
              into(options.ttl));
  line.option("--kill-after", "DURATION",
              "Longest time from TERM to KILL after a loss (default: 5s)",
              into(options.kill_after));
  line.option("--owner", "TEXT", "Human-readable owner label (default: user@host:pid)",
              into(options.owner));
  declare_hooks(line, options.on_acquire, options.on_loss);
  options.global.declare_pass_password(line);
  options.global.declare(line);
  line.command(options.command);
}

// Returns the exit code, or nullopt if the term was lost.
std::optional<int> lead(Session& session, Signals& signals, const ElectOptions& options,
                        Story& story, locks::Lock term) {
  story.begin();
  const auto ended = run_held(
      session, signals, term,
      {.name = options.name,
       .command = options.command,
       .ttl = options.ttl,
       .kill_after = options.kill_after,
       .on_acquire = options.on_acquire,
       .on_loss = options.on_loss,
       .status = "leader of " + base::printable(options.name),
       .say_lost = [&] {
         session.report({base::ErrorCode::lost,
                         fmt::format("lost the term of {}: {}; ending the command",
                                     base::printable(options.name), story.cause_of_loss())});
       }});
  if (!ended) {
    return ended.error().lost ? std::nullopt : std::optional(ended.error().status);
  }
  if (!ended->lost) {
    if (term.release() == store::ReleaseOutcome::released) {
      story.tell_released();
    }
    return ended->status;
  }
  story.tell_new_holder(term.id());
  return ended->asked_to_end ? std::optional(kSignalled + *ended->asked_to_end) : std::nullopt;
}

// The signal that came meanwhile and asks to end.
std::optional<int> pause(Session& session, const Signals& signals) {
  constexpr int kPauseMs = 500;
  session.service().alive();
  pollfd source{.fd = signals.descriptor(), .events = POLLIN, .revents = 0};
  poll(&source, 1, kPauseMs);
  while (const auto signal = signals.next()) {
    if (signals.asks_to_end(*signal)) {
      return *signal;
    }
    if (*signal == SIGTSTP) {
      suspend(Stop::this_process);
    }
  }
  return std::nullopt;
}

int campaign(Session& session, Signals& signals, const ElectOptions& options) {
  Story story(session, options.name, options.ttl);
  locks::LockProvider provider(session.store(), story.provider_options(options.owner));
  const locks::AcquireOptions how{
      .ttl = options.ttl, .wait = base::Duration::max(), .reason = std::string(recipes::kLeads)};
  bool has_led = false;
  for (bool away = false;;) {
    // A candidate that stands by does its work, too.
    session.service().ready("standby for " + base::printable(options.name));
    auto elected = acquire_patiently(session, signals, provider, options.name, how,
                                     {.reminders = Reminders::none, .status = "standby for"});
    if (!elected && has_led && may_come_back(elected.error())) {
      // The cause of the loss may last.
      if (!std::exchange(away, true)) {
        session.report({elected.error().code, elected.error().message + "; trying again"});
      }
      if (const auto signal = pause(session, signals)) {
        return kSignalled + *signal;
      }
      continue;
    }
    if (!elected) {
      return session.report(options.name, elected.error());
    }
    away = false;
    if (const auto* const interrupted = std::get_if<Interrupted>(&*elected)) {
      return kSignalled + interrupted->signal;
    }
    if (auto* const term = std::get_if<locks::Lock>(&*elected)) {
      if (const auto status = lead(session, signals, options, story, std::move(*term))) {
        return *status;
      }
      has_led = true;
    }
  }
}

}  // namespace

int elect(const Invocation& call) {
  ElectOptions options{.global = call.global};
  CommandLine line(kHelp);
  declare(line, options);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (options.command.empty()) {
    return line.mistake("say what to run, as in: holdfast elect NAME -- COMMAND");
  }
  if (options.ttl < LeaseStore::kMinTtl || options.ttl > LeaseStore::kMaxTtl) {
    return line.mistake("--ttl must be from 100ms to 365d");
  }
  Signals signals;  // before any thread
  Session session(options.global);
  session.serve();
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  return campaign(session, signals, options);
}

}  // namespace holdfast::cli::commands
