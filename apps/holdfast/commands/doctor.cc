#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/engines/store_url.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/doctor/check.h"
#include "apps/holdfast/doctor/check_store.h"

namespace holdfast::cli::commands {

namespace {

using Verdict = Check::Verdict;

constexpr Help kHelp{
    .command = "holdfast doctor",
    .usage = "[OPTIONS]",
    .about =
        "Check that the store is reachable and keeps its promises, measure its answers and its\n"
        "clock, recommend a ttl, and look for mistakes in its configuration. What is wrong is\n"
        "printed first. Exits with 69 if the store is unreachable, 1 if a check failed.\n",
    .examples =
        "  holdfast doctor\n"
        "  holdfast doctor --store sqlite:/srv/locks.db\n"
        "  holdfast doctor --json | jq '.checks[] | select(.status != \"ok\")'"};

std::string mark(Verdict verdict) {
  const std::string text = fmt::format("{:<7}", to_string(verdict));
  switch (verdict) {
    case Verdict::ok: return paint(Colour::green, text);
    case Verdict::warning: return paint(Colour::yellow, text);
    case Verdict::failed:
    case Verdict::unreachable: break;
  }
  return paint(Colour::red, text);
}

void print_text(const Checks& checks) {
  for (const Check& check : checks) {
    print_output("{}  {:<13}  {}\n", mark(check.verdict), check.name,
                 base::printable_message(check.detail));
  }
}

void print_json(const StoreLocation& location, const Checks& checks, bool good) {
  print_line({{"store", engines::without_password(location.url)},
              {"origin", location.origin},
              {"ok", good},
              {"checks", to_json(checks)}});
}

Checks examine(Session& session) {
  if (const auto opened = session.open(Purpose::examine); !opened) {
    const bool usage = exit_status(opened.error().code) == kUsage;
    return {{"store", usage ? Verdict::failed : Verdict::unreachable, opened.error().message}};
  }
  return check_store(*session.store(), session.location(), RoundTrips::made);
}

int status_of(const Checks& checks) {
  Verdict worst = Verdict::ok;
  for (const Check& check : checks) {
    worst = std::max(worst, check.verdict);
  }
  switch (worst) {
    case Verdict::ok:
    case Verdict::warning: return kSuccess;
    case Verdict::failed: return kFailure;
    case Verdict::unreachable: break;
  }
  return kUnavailable;
}

}  // namespace

int doctor(const Invocation& call) {
  GlobalOptions global = call.global;
  CommandLine line(kHelp);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  Checks checks = examine(session);
  // Failed checks come first.
  std::ranges::stable_sort(checks, std::greater(), &Check::verdict);
  const int status = status_of(checks);
  if (session.json()) {
    print_json(session.location(), checks, status == kSuccess);
  } else {
    print_text(checks);
  }
  return status;
}

}  // namespace holdfast::cli::commands
