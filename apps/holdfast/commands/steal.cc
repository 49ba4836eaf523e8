#include <vector>

#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/removal.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast steal",
    .usage = "[OPTIONS] NAME --confirm NAME",
    .about =
        "Remove the leases of all holders of NAME, so that it is free. A holder notices when it\n"
        "renews next, within a third of its ttl; until then it works as if it held the name. For\n"
        "holders that hang: the lease of a dead one expires by itself. A lock of another program\n"
        "than Holdfast is not stolen: that is an error (75).\n",
    .examples =
        "  holdfast show deploy\n"
        "  holdfast steal deploy --confirm deploy"};

using Holders = std::vector<store::Holder>;

void print(const Session& session, const std::string& name, const Holders& removed) {
  if (session.json()) {
    Json stolen = Json::array();
    for (const store::Holder& holder : removed) {
      stolen.push_back(to_json(holder));
    }
    print_line({{"name", name}, {"stolen", std::move(stolen)}});
    return;
  }
  if (removed.empty()) {
    print_output("{} was free already\n", base::printable(name));
  }
  for (const store::Holder& holder : removed) {
    print_output("stole {} from {}, who had held it for {} (token {})\n", base::printable(name),
                 holder_label(holder), rough(holder.held_for), base::to_string(holder.token));
  }
}

}  // namespace

int steal(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string name;
  std::string confirmed;
  CommandLine line(kHelp);
  line.positional("NAME", "The name to steal", into(name), Presence::required);
  line.option("--confirm", "NAME", "The same name once more; required", into(confirmed));
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (confirmed != name) {
    return line.mistake(
        "to steal a name from its holders, write it twice: holdfast steal NAME --confirm NAME");
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto holders = removable_holders(*session.store(), name);
  if (!holders) {
    return session.report(name, holders.error());
  }
  const auto removed = remove_leases(*session.store(), name, *holders);
  if (!removed) {
    return session.report(name, removed.error());
  }
  print(session, name, *removed);
  return kSuccess;
}

}  // namespace holdfast::cli::commands
