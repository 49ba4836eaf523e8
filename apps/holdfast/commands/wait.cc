#include <optional>
#include <utility>

#include <fmt/core.h>

#include "apps/holdfast/cli/claim_options.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/acquire_patiently.h"
#include "apps/holdfast/waiting/attend.h"
#include "apps/holdfast/waiting/until.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast wait",
    .usage = "[OPTIONS] NAME",
    .about =
        "Wait until NAME is free, without acquiring it: when this exits, the name may already be\n"
        "held again. Exits with 75 if it was not free in time.\n",
    .examples =
        "  holdfast wait deploy && echo 'deploy is free'\n"
        "  holdfast wait -w 30s deploy        at most 30 s\n"
        "  holdfast wait -n deploy            only check, by the exit status"};

int finish(Session& session, const std::string& name, base::Result<bool> outcome,
           base::Duration waited, base::Duration wait) {
  if (!outcome) {
    return session.report(name, outcome.error());
  }
  if (session.json()) {
    print_line({{"name", name}, {"free", *outcome}, {"waited_ms", to_ms(waited)}});
  } else if (!*outcome) {
    const auto state = session.store()->look(name, answer_deadline());
    session.report(not_free_error(name, {state ? *state : std::nullopt}, wait));
  }
  return *outcome ? kSuccess : kBusy;
}

int wait_for(Session& session, Signals& signals, const std::string& name,
             const WaitOptions& options) {
  const base::Duration wait = options.wait();
  if (wait > base::Duration::zero()) {
    if (const auto valid = check_not_own(session, name, store::Permits::mutex()); !valid) {
      return session.report(valid.error());
    }
  }
  WaitLine line(session, wait_for_lock(session, name, wait, style_of(options)));
  const auto deadline = base::Deadline::after(base::boot_clock(), wait);
  base::Result<bool> outcome = false;
  const auto signal = attend(signals, line, [&](const std::stop_token& stop) {
    outcome = until(
        *session.store(), name, [](const auto& state) { return !state.has_value(); }, deadline,
        stop);
  });
  if (signal) {
    return kSignalled + *signal;
  }
  line.erase();
  return finish(session, name, std::move(outcome), line.waited(), wait);
}

}  // namespace

int wait(const Invocation& call) {
  GlobalOptions global = call.global;
  WaitOptions waiting;
  std::string name;
  CommandLine line(kHelp);
  line.positional("NAME", "The name to wait for", into(name), Presence::required);
  waiting.declare(line);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (const auto valid = waiting.check(); !valid) {
    return line.mistake(valid.error().message);
  }
  Signals signals;  // before any thread
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  return wait_for(session, signals, name, waiting);
}

}  // namespace holdfast::cli::commands
