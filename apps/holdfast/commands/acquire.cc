#include <unistd.h>

#include <holdfast/locks/lock_provider.h>

#include "apps/holdfast/cli/claim_options.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/acquire_patiently.h"
#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast acquire",
    .usage = "[OPTIONS] NAME",
    .about =
        "Acquire a lease on NAME, print its id and its fencing token, and exit. The lease is not\n"
        "renewed: it expires after --ttl unless 'holdfast renew' extends it. Prefer 'holdfast\n"
        "run', which renews, and releases even if the script is killed.\n",
    .examples =
        "  read -r lease token < <(holdfast acquire --ttl 10m deploy)\n"
        "  holdfast renew deploy \"$lease\" --ttl 10m\n"
        "  holdfast release deploy \"$lease\""};

void print_lease(const Session& session, const ClaimOptions& claim, locks::Lock& lock) {
  if (session.json()) {
    print_line({{"name", lock.name()},
                {"lease_id", base::to_string(lock.id())},
                {"token", lock.token().value()},
                {"owner", lock.owner()},
                {"ttl_ms", to_ms(claim.ttl)}});
  } else {
    print_output("{} {}\n", base::to_string(lock.id()), base::to_string(lock.token()));
  }
}

int acquire_and_leave(Session& session, Signals& signals, const std::string& name,
                      const ClaimOptions& claim, const locks::AcquireOptions& how) {
  locks::LockProvider provider(
      session.store(),
      {.owner = how.owner, .logger = session.logger(), .warn_after = base::Duration::max()});
  auto acquired = acquire_patiently(session, signals, provider, name, how, style_of(claim.waiting));
  if (!acquired) {
    return session.report(name, acquired.error());
  }
  if (const auto* const busy = std::get_if<NotFree>(&*acquired)) {
    return session.report(not_free_error(name, *busy, *how.wait));
  }
  if (const auto* const interrupted = std::get_if<Interrupted>(&*acquired)) {
    return kSignalled + interrupted->signal;
  }
  auto& lock = std::get<locks::Lock>(*acquired);
  print_lease(session, claim, lock);
  // A lease whose id nobody knows could not be released: `lock` releases it, and `main` says why.
  if (close_output()) {
    lock.detach();
  }
  return kSuccess;
}

}  // namespace

int acquire(const Invocation& call) {
  GlobalOptions global = call.global;
  // This process has ended when others look: the script that called it is the holder.
  ClaimOptions claim{.owner = owner_of_process(getppid())};
  std::string name;
  CommandLine line(kHelp);
  line.positional("NAME", "The name to hold: 1 to 1024 bytes", into(name), Presence::required);
  claim.declare(line);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  const auto how = claim.options();
  if (!how) {
    return line.mistake(how.error().message);
  }
  Signals signals;  // before any thread
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  return acquire_and_leave(session, signals, name, claim, *how);
}

}  // namespace holdfast::cli::commands
