#include <cstdint>
#include <string>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

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
        "Forget that 'holdfast once' has run NAME in this period, and how many have passed the\n"
        "throttle NAME, so that the next call runs, or passes. It is no error if there is nothing\n"
        "to forget. A run that is under way is refused (75), and so is a lock: see 'holdfast\n"
        "steal'.\n",
    .examples =
        "  holdfast reset nightly && holdfast once --per 20h nightly -- ./report\n"
        "  holdfast reset --json api | jq -r .hits"};

// The period and the calls that were forgotten.
struct Forgotten {
  bool has_run = false;
  std::uint32_t hits = 0;

  [[nodiscard]] bool is_empty() const noexcept { return !has_run && hits == 0; }
};

base::Result<Forgotten> forget(store::LeaseStore& store, const std::string& key) {
  Forgotten forgotten;
  HOLDFAST_TRY_LET(forgotten.has_run, forget_run(store, key));
  HOLDFAST_TRY_LET(forgotten.hits, forget_hits_of(store, key));
  return forgotten;
}

void print_text(const std::string& name, const Forgotten& forgotten) {
  const std::string shown = base::printable(name);
  if (forgotten.has_run) {
    print_output("{} may run again\n", shown);
  }
  if (forgotten.hits > 0) {
    print_output("{} of the throttle {} are forgotten\n", forgotten.hits, shown);
  }
  if (forgotten.is_empty()) {
    print_output("{} has not run in this period\n", shown);
  }
}

}  // namespace

int reset(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string name;
  CommandLine line(kHelp);
  line.positional("NAME", "The name that 'once' or 'throttle' got", into(name), Presence::required);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto forgotten = forget(*session.store(), name);
  if (!forgotten) {
    return session.report(name, forgotten.error());
  }
  if (session.json()) {
    print_line({{"name", name},
                {"outcome", forgotten->is_empty() ? "had_not_run" : "reset"},
                {"hits", forgotten->hits}});
  } else {
    print_text(name, *forgotten);
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
