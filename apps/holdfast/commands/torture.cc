#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/ids.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/random.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/torture/checker.h"
#include "apps/holdfast/torture/end_request.h"
#include "apps/holdfast/torture/endpoint.h"
#include "apps/holdfast/torture/folder.h"
#include "apps/holdfast/torture/fork.h"
#include "apps/holdfast/torture/proxy.h"
#include "apps/holdfast/torture/report.h"
#include "apps/holdfast/torture/run.h"
#include "apps/holdfast/torture/server.h"

namespace holdfast::cli::commands {

namespace {

using torture::Settings;

constexpr Help kHelp{
    .command = "holdfast torture",
    .usage = "[OPTIONS]",
    .about =
        "Try to break this store's promises: processes acquire, hold, renew and release names of\n"
        "their own in it, while some are paused and killed, and their connections cut and "
        "delayed.\n"
        "Then judge what each of them saw. Exits with 1 if a promise was broken.\n",
    .examples =
        "  holdfast torture --store redis://localhost\n"
        "  holdfast torture --for 30m --workers 16 --html report.html\n"
        "  holdfast torture --fence --faults pause --ttl 500ms"};

struct TortureOptions {
  GlobalOptions global{};
  Settings settings{};
  std::uint64_t workers = 8;
  std::uint64_t names = 1;
  std::string history{};
  std::string html{};
  std::string server{};    // the command that runs it
  bool all_faults = true;  // that are possible
};

// Reads a list of faults, or none.
Reader into_faults(TortureOptions& options) {
  return [&options](std::string_view text) -> base::Result<void> {
    options.all_faults = false;
    options.settings.faults.clear();
    while (!text.empty() && text != "none") {
      const std::string_view word = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      const auto* const found =
          std::ranges::find(torture::kFaults, word, &torture::FaultInfo::name);
      if (found == torture::kFaults.end()) {
        return base::fail(base::ErrorCode::invalid_argument,
                          fmt::format("there is no fault '{}'", base::printable(word)));
      }
      options.settings.faults.push_back(found->kind);
    }
    return {};
  };
}

void declare(CommandLine& line, TortureOptions& options) {
  Settings& settings = options.settings;
  line.option("--for", "DURATION", "Duration of the run, 1s to 7d (default: 30s)",
              into(settings.time));
  line.option("--workers", "N", "Number of processes, up to 256 (default: 8)",
              into(options.workers, 1, 256));
  line.option("--names", "N",
              "Number of mutexes, of semaphores and of reader-writer locks (default: 1)",
              into(options.names, 1, 100));
  line.option("--ttl", "DURATION", "The ttl of the leases, 100ms to 1h (default: 2s)",
              into(settings.ttl));
  line.option("--faults", "LIST",
              "Some of pause,kill,cut,delay,hang,drop,server-kill,server-pause,server-restart, or "
              "none (default: all that are possible)",
              into_faults(options));
  line.option("--server-command", "COMMAND",
              "Run the server of the store with this shell command, and kill, pause and restart it",
              into(options.server));
  line.flag("--fence", settings.fence, "Let every read and write of a register pass a fence");
  line.option("--seed", "N", "Repeat the random choices of another run",
              into(settings.seed, 0, std::numeric_limits<std::uint64_t>::max()));
  line.option("--history", "FILE", "Write all that happened to this file, as JSON",
              into(options.history));
  line.option("--html", "FILE", "Write a page with a timeline to this file", into(options.html));
  options.global.declare(line);
}

std::string_view mistake_in(const Settings& settings) {
  using namespace std::chrono_literals;
  if (settings.time < 1s || settings.time > 7 * 24h) {
    return "say for how long, from 1s to 7d, as in: --for 30m";
  }
  if (settings.ttl < store::LeaseStore::kMinTtl || settings.ttl > 1h) {
    return "a ttl is from 100ms to 1h, as in: --ttl 2s";
  }
  return {};
}

// Names that nobody else uses.
std::vector<torture::LockName> make_names(std::uint64_t count) {
  using torture::Kind;
  const std::string prefix = "holdfast/torture/" + to_string(base::LeaseId::generate()) + "/";
  std::vector<torture::LockName> names;
  for (std::uint64_t i = 1; i <= count; ++i) {
    const std::string number = std::to_string(i);
    names.push_back({.text = prefix + "mutex-" + number});
    names.push_back(
        {.text = prefix + "semaphore-" + number, .kind = Kind::semaphore, .permits = 3});
    names.push_back({.text = prefix + "readers-" + number,
                     .kind = Kind::reader_writer,
                     .permits = store::Permits::kAll});
  }
  return names;
}

// Returns when the server answers, when it has ended or somebody asks this process to end, or after
// half a minute.
void wait_for_server(const TortureOptions& options, torture::Server& server,
                     torture::EndRequest& ending) {
  const auto& clock = base::steady_clock();
  const auto deadline = base::Deadline::after(clock, std::chrono::seconds(30));
  const auto answers = [&] {
    const auto store = engines::open_store(options.settings.url);
    return store && (*store)->look(options.settings.names.front().text, answer_deadline())
               ? kSuccess
               : kUnavailable;
  };
  const auto gives_up = [&] { return server.status() || ending.look(); };
  while (!deadline.expired(clock.now()) && !gives_up()) {
    const auto status = torture::Fork(answers, -1).wait(std::chrono::seconds(15), gives_up);
    if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == kSuccess) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// Opens the store, acquires and releases a name, and reports what is wrong with it. In a process of
// its own: a store may start threads, and this one goes on to fork.
int check_store(const TortureOptions& options, torture::EndRequest& ending) {
  torture::Fork check(
      [&] {
        Session session(options.global);
        if (const auto opened = session.open(); !opened) {
          return session.report(opened.error());
        }
        locks::LockProvider provider(session.store(), {.ttl = options.settings.ttl});
        const auto lock = provider.try_acquire(options.settings.names.front().text);
        return lock ? kSuccess : session.report(lock.error());
      },
      -1);
  const auto status =
      check.wait(std::chrono::minutes(2), [&] { return ending.look().has_value(); });
  if (const auto signal = ending.look()) {
    return kSignalled + *signal;
  }
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : kUnavailable;
}

int status_of(const torture::Finished& run) {
  if (!run.good()) {
    return kFailure;
  }
  if (run.result.signal) {
    return kSignalled + *run.result.signal;
  }
  return run.result.counts.granted > 0 && !run.result.is_store_silent ? kSuccess : kUnavailable;
}

// Returns the proxy that the network faults need; none where none was chosen.
base::Result<std::unique_ptr<torture::Proxy>> open_proxy(Settings& settings) {
  settings.worker_url = settings.url;
  const auto is_of_network = [](const torture::FaultInfo& fault) {
    return fault.target == torture::Target::network;
  };
  if (!std::ranges::any_of(settings.faults, is_of_network, torture::info_of)) {
    return nullptr;
  }
  HOLDFAST_TRY_LET(auto proxy, torture::Proxy::open(*torture::endpoint_of(settings.url)));
  settings.worker_url = torture::with_endpoint(settings.url, proxy->port());
  return proxy;
}

// Leaves the faults that can happen here. Returns what is wrong if one was asked for that cannot.
std::string choose_faults(TortureOptions& options) {
  const bool has_endpoint = torture::endpoint_of(options.settings.url).has_value();
  for (const torture::FaultInfo& fault : torture::kFaults) {
    const bool is_possible = fault.target == torture::Target::worker ||
                             (fault.target == torture::Target::network && has_endpoint) ||
                             (fault.target == torture::Target::server && !options.server.empty());
    auto& chosen = options.settings.faults;
    if (options.all_faults && is_possible) {
      chosen.push_back(fault.kind);
    }
    if (!is_possible && std::ranges::find(chosen, fault.kind) != chosen.end()) {
      return fmt::format("{} needs {}", fault.name,
                         fault.target == torture::Target::server
                             ? "--server-command"
                             : "the URL of one server, without TLS, in --store");
    }
  }
  return {};
}

base::Result<void> write_files(const TortureOptions& options, const torture::Finished& run) {
  if (!options.history.empty()) {
    HOLDFAST_TRY(torture::write_history_file(options.history, run));
  }
  if (!options.html.empty()) {
    HOLDFAST_TRY(torture::write_html_file(options.html, run));
  }
  return {};
}

int run_and_judge(const TortureOptions& options, Session& session, torture::EndRequest& ending,
                  torture::Proxy* proxy, torture::Server* server) {
  torture::Rows rows(options.settings.time);
  const torture::RunResult result =
      torture::run(options.settings, {.ending = ending,
                                      .proxy = proxy,
                                      .server = server,
                                      .show = [&](const torture::Progress& progress) {
                                        if (!options.global.json) {
                                          rows.show(progress);
                                        }
                                      }});
  const torture::Judgement judgement = torture::judge(result.history);
  const torture::Finished finished{options.settings, result, judgement};
  if (options.global.json) {
    torture::print_json(finished);
  } else {
    torture::print_text(finished);
  }
  static_cast<void>(flush_output());  // before a signal can end this; main reports what failed
  if (const auto written = write_files(options, finished); !written) {
    session.report(written.error());
    return kOutput;
  }
  return status_of(finished);
}

int torture_store(TortureOptions& options, const CommandLine& line) {
  const Signals signals;
  torture::EndRequest ending(signals);
  Session session(options.global);
  const auto location = locate_store(options.global.store);
  if (!location) {
    return session.report(location.error());
  }
  options.settings.url = location->url;
  if (const auto mistake = choose_faults(options); !mistake.empty()) {
    return line.mistake(mistake);
  }
  const auto proxy = open_proxy(options.settings);
  if (!proxy) {
    return session.report(proxy.error());
  }
  std::optional<torture::Server> server;
  if (!options.server.empty()) {
    server.emplace(options.server, signals.original_mask());
    server->start();
    wait_for_server(options, *server, ending);
    if (const auto status = server->status()) {
      return session.report({base::ErrorCode::unavailable,
                             fmt::format("the server has ended with {}: {}", WEXITSTATUS(*status),
                                         base::printable(options.server))});
    }
  }
  if (const int status = check_store(options, ending); status != kSuccess) {
    return status;
  }
  torture::Folder folder;
  if (const auto made = folder.make(); !made) {
    return session.report(made.error());
  }
  options.settings.folder = folder.path();
  return run_and_judge(options, session, ending, proxy->get(), server ? &*server : nullptr);
}

}  // namespace

int torture(const Invocation& call) {
  TortureOptions options{.global = call.global};
  options.settings.seed = base::random_u64() >> 32U;
  CommandLine line(kHelp);
  declare(line, options);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  if (const auto mistake = mistake_in(options.settings); !mistake.empty()) {
    return line.mistake(mistake);
  }
  options.settings.workers = options.workers;
  options.settings.names = make_names(options.names);
  return torture_store(options, line);
}

}  // namespace holdfast::cli::commands
