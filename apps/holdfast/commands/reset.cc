#include <algorithm>
#include <string>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr Help kHelp{
    .command = "holdfast reset",
    .usage = "[OPTIONS] NAME",
    .about =
        "Forget that 'holdfast once' has run NAME in this period, so that the next call runs it\n"
        "again. It is no error if there is nothing to forget. A run that is under way is refused\n"
        "(75), and so is a lock: see 'holdfast steal'. The window of a throttle ends by itself.\n",
    .examples =
        "  holdfast reset nightly && holdfast once --per 20h nightly -- ./report\n"
        "  holdfast reset --json nightly | jq -r .outcome"};

// The reason of the lease that `once` leaves behind when its command has ended.
constexpr std::string_view kHasRun = "has run in this period";

base::Error still_held(const std::string& name, const store::Holder& holder) {
  return {ErrorCode::busy,
          fmt::format("{0} is held by {1}: end its command, or see 'holdfast steal {0}'",
                      base::printable(name), holder_text(holder))};
}

// Returns whether there was something to forget.
Result<bool> forget(store::LeaseStore& store, const std::string& key) {
  const std::string name = once_name(key);
  HOLDFAST_TRY_LET(const auto state, store.look(name, answer_deadline()));
  if (!state) {
    HOLDFAST_TRY_LET(const auto lock, store.look(key, answer_deadline()));
    return lock ? Result<bool>(std::unexpected(still_held(key, lock->holders.front()))) : false;
  }
  const store::Holder& holder = state->holders.front();
  if (holder.foreign || holder.reason != kHasRun) {
    return std::unexpected(still_held(name, holder));
  }
  HOLDFAST_TRY_LET(const auto outcome, store.release(name, holder.id, answer_deadline()));
  return outcome == store::ReleaseOutcome::released;
}

}  // namespace

int reset(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string name;
  CommandLine line(kHelp);
  line.positional("NAME", "The name that 'once' got", into(name), Presence::required);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto was_there = forget(*session.store(), name);
  if (!was_there) {
    return session.report(name, was_there.error());
  }
  if (session.json()) {
    print_line({{"name", name}, {"outcome", *was_there ? "reset" : "had_not_run"}});
  } else {
    print_output("{} {}\n", base::printable(name),
                 *was_there ? "may run again" : "has not run in this period");
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
