#include <unistd.h>

#include <cstdio>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/locks/lock_provider.h>

#include "apps/holdfast/child/held_command.h"
#include "apps/holdfast/child/story.h"
#include "apps/holdfast/cli/claim_options.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/acquire_patiently.h"
#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli::commands {

namespace {

using base::Result;

struct RunOptions {
  GlobalOptions global{};
  ClaimOptions claim{};
  std::uint64_t busy_status = kBusy;
  OnLost on_lost = OnLost::terminate;
  base::Duration kill_after = std::chrono::seconds(5);
  Background background = Background::keep;
  std::string on_acquire{};
  std::string on_loss{};
  std::string name{};
  Arguments command{};
};

constexpr Help kHelp{
    .command = "holdfast run",
    .usage = "[OPTIONS] NAME -- COMMAND…",
    .about =
        "Wait until NAME is free, hold it while COMMAND runs, and exit with COMMAND's status.\n"
        "Otherwise exit with 75 (busy), 79 (lost), 69 (store unavailable), 64 (usage), 126 or\n"
        "127 (COMMAND cannot be executed, was not found).\n",
    .examples =
        "  holdfast run deploy -- ./deploy.sh             one at a time, the others wait\n"
        "  holdfast run -n nightly -- ./backup            do not wait\n"
        "  holdfast run -w 5m --reason 'CI 812' db -- make migrate\n"
        "  holdfast run --permits 1/4 gpu -- ./train      four at a time\n"
        "  holdfast run -s cache -- ./read                shared with other -s holders"};

Reader into(OnLost& target) {
  return [&target](std::string_view text) -> Result<void> {
    if (text != "term" && text != "ignore") {
      return base::fail(base::ErrorCode::invalid_argument,
                        "'" + base::printable(text) + "' is neither term nor ignore");
    }
    target = text == "term" ? OnLost::terminate : OnLost::ignore;
    return {};
  };
}

Reader into(Background& target) {
  return [&target](std::string_view text) -> Result<void> {
    if (text != "keep" && text != "kill" && text != "wait") {
      return base::fail(base::ErrorCode::invalid_argument,
                        "'" + base::printable(text) + "' is neither keep, kill nor wait");
    }
    target = text == "keep"   ? Background::keep
             : text == "kill" ? Background::kill
                              : Background::wait;
    return {};
  };
}

void declare(CommandLine& line, RunOptions& options) {
  line.positional("NAME", "The name to hold: 1 to 1024 bytes", cli::into(options.name),
                  Presence::required);
  options.claim.declare(line);
  line.option("-E,--busy-status", "CODE", "Exit code when the name is busy (default: 75)",
              cli::into(options.busy_status, 0, 255));
  line.option("--on-lost", "term|ignore",
              "If the lock is lost: end COMMAND (default), or only report it",
              into(options.on_lost));
  line.option("--kill-after", "DURATION",
              "Longest time from TERM to KILL after a loss (default: 5s)",
              cli::into(options.kill_after));
  line.option("--background", "keep|kill|wait",
              "Processes that COMMAND leaves behind: keep them (default), end them, or hold the "
              "lock until they have ended",
              into(options.background));
  declare_hooks(line, options.on_acquire, options.on_loss);
  options.global.declare_pass_password(line);
  options.global.declare(line);
  line.command(options.command);
}

// One run from the lock to its release.
class Run {
 public:
  Run(Session& session, Signals& signals, const RunOptions& options,
      const locks::AcquireOptions& how)
      : session_(session),
        signals_(signals),
        options_(options),
        how_(how),
        story_(session, options.name, options.claim.ttl),
        provider_(session.store(), provider_options()) {}

  int operator()() {
    auto acquired = acquire_patiently(session_, signals_, provider_, options_.name, how_,
                                      style_of(options_.claim.waiting));
    if (!acquired) {
      return session_.report(options_.name, acquired.error());
    }
    if (const auto* const busy = std::get_if<NotFree>(&*acquired)) {
      // With the status of a success it is not an error either, and -q leaves only those.
      if (!options_.claim.waiting.quiet || options_.busy_status != kSuccess) {
        session_.report(not_free_error(options_.name, *busy, *how_.wait));
      }
      return static_cast<int>(options_.busy_status);
    }
    if (const auto* const interrupted = std::get_if<Interrupted>(&*acquired)) {
      return kSignalled + interrupted->signal;
    }
    return hold(std::get<locks::Lock>(*acquired));
  }

 private:
  // Its threads would cost a short command more than the lock does.
  [[nodiscard]] locks::ProviderOptions provider_options() {
    locks::ProviderOptions options = story_.provider_options(how_.owner);
    options.keeping = locks::Keeping::on_request;
    return options;
  }

  int hold(locks::Lock& lock) {
    story_.begin();
    const HeldCommand command{.name = options_.name,
                              .command = options_.command,
                              .ttl = options_.claim.ttl,
                              .kill_after = options_.kill_after,
                              .on_lost = options_.on_lost,
                              .background = options_.background,
                              .on_acquire = options_.on_acquire,
                              .on_loss = options_.on_loss,
                              .status = "holding " + base::printable(options_.name),
                              .say_lost = [this] { say_lost(); },
                              .start_keeping = [this] { return provider_.start_keeping(); }};
    const auto ended = run_held(session_, signals_, lock, command);
    if (!ended) {
      return ended.error().status;
    }
    const bool lost = !give_back(lock, command) || ended->lost;
    const int status = lost && options_.on_lost == OnLost::terminate ? kLost : ended->status;
    if (session_.json()) {
      summarise(lock, ended->status, lost);
    }
    return status;
  }

  // On the error stream: standard output is the command's.
  void summarise(const locks::Lock& lock, int command_status, bool lost) {
    session_.console().print(to_line({{"name", options_.name},
                                      {"lease_id", base::to_string(lock.id())},
                                      {"token", lock.token().value()},
                                      {"owner", lock.owner()},
                                      {"lost", lost},
                                      {"command_status", command_status}}));
  }

  void say_lost() {
    session_.report(
        {base::ErrorCode::lost,
         fmt::format("lost {}: {}{}", base::printable(options_.name), story_.cause_of_loss(),
                     options_.on_lost == OnLost::terminate ? "; ending the command" : "")});
    said_lost_ = true;
  }

  // False if it was not ours any more.
  bool give_back(locks::Lock& lock, const HeldCommand& command) {
    const auto released = lock.release();
    if (!released) {
      session_.report(
          {released.error().code, "could not release " + base::printable(options_.name) +
                                      ", its lease will expire: " + released.error().message});
      return true;
    }
    if (*released == store::ReleaseOutcome::released) {
      story_.tell_released();
      return true;
    }
    if (!said_lost_) {
      say_lost();
      start_on_loss(session_, signals_, lock, command);
    }
    story_.tell_new_holder(lock.id());
    return false;
  }

  Session& session_;
  Signals& signals_;
  const RunOptions& options_;
  const locks::AcquireOptions& how_;
  Story story_;
  locks::LockProvider provider_;
  bool said_lost_ = false;
};

// Without taking down what the kernel takes down faster: the lock is released, and all that is left
// is a thread with nothing to do and a store to close.
[[noreturn]] void leave(int status) {
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

int run(const Invocation& call) {
  RunOptions options{.global = call.global};
  CommandLine line(kHelp);
  declare(line, options);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (options.command.empty()) {
    return line.mistake("say what to run, as in: holdfast run NAME -- COMMAND");
  }
  const auto how = options.claim.options();
  if (!how) {
    return line.mistake(how.error().message);
  }
  Signals signals;  // before any thread
  Session session(options.global);
  session.serve();
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  Run work(session, signals, options, *how);
  leave(work());
}

}  // namespace holdfast::cli::commands
