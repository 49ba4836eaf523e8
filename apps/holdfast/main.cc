#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/error.h>
#include <holdfast/engines/open_store.h>

#include "apps/holdfast/cli/command_line.h"
#include "apps/holdfast/cli/did_you_mean.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/streams.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli {

namespace {

struct Command {
  std::string_view name;
  std::string_view about;
  int (*call)(const Invocation&);
};

// In the order of the help.
constexpr std::array kCommands = {
    Command{"run", "Hold a name while a command runs", commands::run},
    Command{"once", "Run a command at most once per period", commands::once},
    Command{"elect", "Run a command while this process is the leader", commands::elect},
    Command{"throttle", "Limit how many pass per period", commands::throttle},
    Command{"ls", "List the names that are held", commands::ls},
    Command{"show", "Show the holders of a name", commands::show},
    Command{"why", "Say why a command for a name waits or is skipped", commands::why},
    Command{"wait", "Wait until a name is free", commands::wait},
    Command{"hold", "Hold a name for the calling shell, until it ends", commands::hold},
    Command{"acquire", "Acquire a lease that outlasts this command, for scripts",
            commands::acquire},
    Command{"renew", "Renew a lease of 'acquire'", commands::renew},
    Command{"release", "Release a lease of 'hold' or 'acquire'", commands::release},
    Command{"steal", "Remove the leases of a name's holders", commands::steal},
    Command{"reset", "Forget that 'once' has run in this period", commands::reset},
    Command{"fence", "Reject a stale token before a write", commands::fence},
    Command{"mark", "Set an expiring flag, which excludes nothing", commands::mark},
    Command{"marked", "Check whether a key is marked", commands::marked},
    Command{"clear", "Remove a mark", commands::clear},
    Command{"watch", "Print acquisitions and releases as they happen", commands::watch},
    Command{"serve", "Show the store as a page, a JSON API and metrics", commands::serve},
    Command{"init", "Create a store, also for several users", commands::init},
    Command{"schema", "Print the SQL that creates a store", commands::schema},
    Command{"doctor", "Check the store and print what it promises", commands::doctor},
    Command{"bench", "Measure acquire and release on this store", commands::bench},
    Command{"torture", "Try to break the promises of this store", commands::torture},
};

constexpr std::string_view kExamples =
    "  holdfast run deploy -- ./deploy.sh   one at a time, the others wait\n"
    "  holdfast ls                          the names that are held\n"
    "  holdfast help run                    the options of a command";

std::string about_all() {
  std::string about = "Locks for scripts, cron jobs and build farms.\n\nCommands:";
  for (const Command& command : kCommands) {
    about += fmt::format("\n  {:<24}{}", command.name, command.about);
  }
  about += "\n\nStores, for --store and HOLDFAST_STORE:";
  for (const engines::EngineInfo& engine : engines::known_engines()) {
    about += fmt::format("\n  {:<35} {}", engine.url, engine.about);
  }
  about += fmt::format("\n  {:<35} {}", "NAME",
                       "a store of /etc/holdfast.conf or ~/.config/holdfast/config");
  return about + "\n";
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found != kCommands.end() ? &*found : nullptr;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names{"help"};
  for (const Command& command : kCommands) {
    names.emplace_back(command.name);
  }
  return names;
}

// `help run` is `run --help`.
Arguments without_help(Arguments arguments) {
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.resize(std::min<std::size_t>(arguments.size(), 1));
    arguments.emplace_back("--help");
  }
  return arguments;
}

int call(const Command& command, const GlobalOptions& global, const Arguments& all) {
  return command.call({global, Arguments(all.begin() + 1, all.end())});
}

int dispatch(const Arguments& all) {
  const Arguments arguments = without_help(all);
  if (!arguments.empty()) {
    if (const Command* const command = find_command(arguments.front())) {
      return call(*command, {}, arguments);
    }
  }
  GlobalOptions global;
  Arguments rest;
  const std::string about = about_all();
  CommandLine line({.command = "holdfast",
                    .usage = "[OPTIONS] COMMAND…",
                    .about = about,
                    .examples = kExamples});
  global.declare(line);
  line.version("holdfast " HOLDFAST_VERSION);
  line.rest(rest);
  if (const auto status = line.parse(arguments)) {
    return *status;
  }
  if (rest.empty()) {
    return line.mistake("name a command, such as run or ls");
  }
  const Command* const command = find_command(rest.front());
  if (command == nullptr) {
    return line.mistake(fmt::format("there is no command '{}'{}", rest.front(),
                                    did_you_mean(rest.front(), command_names())));
  }
  return call(*command, global, rest);
}

// Returns the status to end with. What a command printed must have been written.
int finish(int status) {
  const auto written = close_output();
  if (written) {
    return status;
  }
  write_error(fmt::format("holdfast: {}\n", written.error().message));
  return status == kSuccess ? kOutput : status;
}

}  // namespace

}  // namespace holdfast::cli

int main(int argc, char** argv) {
  using namespace holdfast;
  cli::open_missing_streams();
  return cli::status_of_work([&] {
    return cli::finish(cli::dispatch(cli::Arguments(argv + std::min(argc, 1), argv + argc)));
  });
}
