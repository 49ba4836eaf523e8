#include <string>

#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/removal.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

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
  const auto was_there = forget_run(*session.store(), name);
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
