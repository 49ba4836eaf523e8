#include <cstdlib>
#include <limits>
#include <optional>

#include <holdfast/base/printable.h>
#include <holdfast/fence/file_guard.h>

#include "apps/holdfast/child/become.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

using base::Result;

constexpr Help kHelp{
    .command = "holdfast fence",
    .usage = "check [OPTIONS] FILE [-- COMMAND…]",
    .about =
        "Check a holder's fencing token before FILE, or the resource it represents, is changed.\n"
        "Exits with 0 if no newer token was seen, and remembers the token in FILE.fence; with 79\n"
        "if one was: another holder has the lock. With COMMAND, runs it while no other process\n"
        "passes the check, and exits with its status. Otherwise exits with 75 (another COMMAND\n"
        "takes too long), 69 (FILE.fence cannot be used), 64 (usage).\n",
    .examples =
        "  holdfast run deploy -- ./deploy.sh             which calls, in its last step:\n"
        "  holdfast fence check live -- ln -sfn release-812 live\n"
        "  holdfast fence check report.txt --token 1718000000000000 && echo accepted"};

struct FenceOptions {
  GlobalOptions global{};
  std::string file{};
  std::optional<std::uint64_t> token{};
  base::Duration wait = std::chrono::seconds(10);
  Arguments command{};
};

Reader into(std::optional<std::uint64_t>& target) {
  return [&target](std::string_view text) {
    return cli::into(target.emplace(), 0, std::numeric_limits<std::uint64_t>::max())(text);
  };
}

// There is one action; its name leaves room for others.
Result<void> read_action(std::string_view text) {
  if (text != "check") {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'" + base::printable(text) + "' is not check");
  }
  return {};
}

void declare(CommandLine& line, FenceOptions& options) {
  line.positional("ACTION", "check", read_action, Presence::required);
  line.positional("FILE", "The guarded file; it need not exist, but its folder must",
                  cli::into(options.file), Presence::required);
  line.option("--token", "N", "The holder's fencing token (default: HOLDFAST_TOKEN)",
              into(options.token));
  line.option("-w,--wait", "DURATION", "Longest wait for another COMMAND (default: 10s)",
              cli::into(options.wait));
  options.global.declare(line);
  line.command(options.command);
}

void print_json(const FenceOptions& options, std::string_view outcome,
                std::optional<base::FencingToken> newest) {
  print_line({{"file", options.file},
              {"token", *options.token},
              {"outcome", outcome},
              {"newest", newest ? Json(newest->value()) : Json()}});
}

int refused(Session& session, const FenceOptions& options, const fence::FileGuard& guard,
            const base::Error& error) {
  if (session.json() && error.code == base::ErrorCode::lost) {
    print_json(options, "refused", guard.newest().value_or(std::nullopt));
    return kLost;
  }
  return session.report(error);
}

// The command keeps the lock until it has ended.
int become(Session& session, const Arguments& command, fence::FilePass& pass) {
  if (const auto handed = pass.hand_down(); !handed) {
    return session.report(handed.error());
  }
  return cli::become(session, command);
}

}  // namespace

int fence(const Invocation& call) {
  FenceOptions options{.global = call.global};
  CommandLine line(kHelp);
  declare(line, options);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (const char* const variable = std::getenv("HOLDFAST_TOKEN"); !options.token) {
    if (variable == nullptr) {
      return line.mistake(
          "say which token: --token N, or HOLDFAST_TOKEN as 'holdfast run' sets it");
    }
    if (const auto read = into(options.token)(variable); !read) {
      return line.mistake("HOLDFAST_TOKEN: " + read.error().message);
    }
  }
  Session session(options.global);
  const auto guard = fence::FileGuard::open(options.file, {.wait = options.wait});
  if (!guard) {
    return session.report(guard.error());
  }
  auto pass = guard->enter(base::FencingToken{*options.token});
  if (!pass) {
    return refused(session, options, *guard, pass.error());
  }
  if (!options.command.empty()) {
    return become(session, options.command, *pass);
  }
  if (session.json()) {
    print_json(options, "accepted", base::FencingToken{*options.token});
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
