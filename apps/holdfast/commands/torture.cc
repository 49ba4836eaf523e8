#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/ids.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/random.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/store_url.h>
#include <holdfast/locks/lock_provider.h>

#include "apps/holdfast/cli/console.h"
#include "apps/holdfast/cli/environment.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/torture/checker.h"
#include "apps/holdfast/torture/fork.h"
#include "apps/holdfast/torture/history_json.h"
#include "apps/holdfast/torture/run.h"

namespace holdfast::cli::commands {

namespace {

using torture::FaultKind;
using torture::Settings;

constexpr Help kHelp{
    .command = "holdfast torture",
    .usage = "[OPTIONS]",
    .about =
        "Try to break this store's promises: processes acquire, hold, renew and release names of\n"
        "their own in it, while some are paused and killed. Then judge what each of them saw.\n"
        "Exits with 1 if a promise was broken. See docs/torture.md.\n",
    .examples =
        "  holdfast torture --store redis://localhost\n"
        "  holdfast torture --for 30m --workers 16 --history history.json\n"
        "  holdfast torture --fence --faults pause --ttl 500ms"};

struct TortureOptions {
  GlobalOptions global{};
  Settings settings{};
  std::uint64_t workers = 8;
  std::uint64_t names = 1;
  std::string history{};
};

Reader into_faults(std::vector<FaultKind>& target) {
  return [&target](std::string_view text) -> base::Result<void> {
    target.clear();
    while (!text.empty() && text != "none") {
      const std::string_view word = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      const auto found = std::ranges::find(torture::kFaultNames, word,
                                           &std::pair<FaultKind, std::string_view>::second);
      if (found == torture::kFaultNames.end()) {
        return base::fail(base::ErrorCode::invalid_argument,
                          fmt::format("there is no fault '{}'", base::printable(word)));
      }
      target.push_back(found->first);
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
  line.option("--faults", "LIST", "Some of pause,kill, or none (default: all)",
              into_faults(settings.faults));
  line.flag("--fence", settings.fence, "Let every read and write of a register pass a fence");
  line.option("--seed", "N", "Repeat the random choices of another run",
              into(settings.seed, 0, std::numeric_limits<std::uint64_t>::max()));
  line.option("--history", "FILE", "Write all that happened to this file, as JSON",
              into(options.history));
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

// A folder that is removed with this object.
class Folder {
 public:
  [[nodiscard]] base::Result<void> make() {
    const std::string parent = environment("TMPDIR");
    std::string path = (parent.empty() ? "/tmp" : parent) + "/holdfast-torture-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      return base::fail(
          base::ErrorCode::failed,
          fmt::format("cannot make a folder {}: {}", path, std::generic_category().message(errno)));
    }
    path_ = path;
    return {};
  }
  Folder() = default;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

// Opens the store, acquires and releases a name, and reports what is wrong with it. In a process of
// its own: a store may start threads, and this one goes on to fork.
int check_store(const TortureOptions& options) {
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
  const auto status = check.wait(std::chrono::minutes(2));
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : kUnavailable;
}

// Prints a row of counts now and then.
class Rows {
 public:
  explicit Rows(base::Duration time) : every_(std::max<base::Duration>(time / 20, kLeast)) {}

  void operator()(const torture::Progress& progress) {
    if (progress.elapsed < next_) {
      return;
    }
    if (next_ == torture::Time::zero()) {
      row("TIME", "GRANTED", "BUSY", "FAILED", "LOST", "UPDATES", "REFUSED", "FAULTS");
    }
    const torture::Counts& counts = progress.counts;
    row(rough(progress.elapsed), counts.granted, counts.busy, counts.failed, counts.lost,
        counts.updated, counts.refused, progress.faults);
    static_cast<void>(flush_output());  // main reports what could not be written
    next_ = progress.elapsed + every_;
  }

 private:
  static constexpr std::chrono::seconds kLeast{1};

  template <class... Cells>
  void row(const Cells&... cells) {
    std::string text;
    ((text += fmt::format("{:>10}", cells)), ...);
    write_output(text + "\n");
  }

  const base::Duration every_;
  torture::Time next_{};
};

void print_updates(const torture::UpdateCount& updates, bool fenced) {
  const double percent = updates.acknowledged == 0 ? 0
                                                   : 100.0 * static_cast<double>(updates.lost) /
                                                         static_cast<double>(updates.acknowledged);
  print_output(
      "\nupdates: {} acknowledged, {} of them lost ({:.2f} %); {} written after the lock was lost",
      updates.acknowledged, updates.lost, percent, updates.late);
  if (fenced) {
    print_output(", {} refused by the fence\n", updates.refused);
  } else {
    print_output("{}\n", updates.late > 0 ? ": --fence refuses these" : "");
  }
}

void print_text(const Settings& settings, const torture::RunResult& result,
                const torture::Judgement& judgement) {
  std::vector<std::vector<std::string>> cells{{"PROMISE", "CHECKED", "VIOLATIONS"}};
  for (const torture::Ruling& ruling : judgement.rulings) {
    cells.push_back({std::string(ruling.rule), std::to_string(ruling.checked),
                     std::to_string(ruling.violations)});
  }
  print_output("\n{}", table(cells));
  print_updates(judgement.updates, settings.fence);
  for (const auto& [text, count] : result.errors) {
    print_output("failed {} times: {}\n", count, base::printable_message(text));
  }
  for (const torture::Violation& violation : judgement.violations) {
    print_output("{} {} at {:.3f} s: {}\n", paint(Colour::red, violation.rule),
                 result.history.names[violation.name].text,
                 std::chrono::duration<double>(violation.time).count(), violation.text);
  }
  for (const std::string& defect : result.defects) {
    print_output("{}\n", paint(Colour::red, defect));
  }
  print_output("{}: seed {}\n",
               judgement.good() && result.defects.empty()
                   ? paint(Colour::green, "no promise was broken")
                   : paint(Colour::red, "a promise was broken"),
               settings.seed);
}

void print_json(const TortureOptions& options, const torture::RunResult& result,
                const torture::Judgement& judgement) {
  Json defects = Json::array();
  for (const std::string& defect : result.defects) {
    defects.push_back(defect);
  }
  Json all{{"store", engines::without_password(options.settings.url)},
           {"seed", options.settings.seed},
           {"granted", result.counts.granted},
           {"busy", result.counts.busy},
           {"failed", result.counts.failed},
           {"lost", result.counts.lost},
           {"faults", result.history.faults.size()},
           {"defects", std::move(defects)}};
  all.update(torture::to_json(result.history, judgement));
  print_line(all);
}

base::Result<void> write_history(const std::string& file, const torture::History& history,
                                 const torture::Judgement& judgement) {
  std::ofstream out(file);
  torture::write_json(out, history, judgement);
  out.close();
  if (!out) {
    return base::fail(base::ErrorCode::failed, "cannot write " + file);
  }
  return {};
}

int status_of(const torture::RunResult& result, const torture::Judgement& judgement) {
  if (!judgement.good() || !result.defects.empty()) {
    return kFailure;
  }
  if (result.signal) {
    return kSignalled + *result.signal;
  }
  return result.counts.granted > 0 ? kSuccess : kUnavailable;
}

int run_and_judge(const TortureOptions& options, const Signals& signals) {
  Rows rows(options.settings.time);
  const torture::RunResult result =
      torture::run(options.settings, signals, [&](const torture::Progress& progress) {
        if (!options.global.json) {
          rows(progress);
        }
      });
  const torture::Judgement judgement = torture::judge(result.history);
  if (options.global.json) {
    print_json(options, result, judgement);
  } else {
    print_text(options.settings, result, judgement);
  }
  if (!options.history.empty()) {
    if (const auto written = write_history(options.history, result.history, judgement); !written) {
      Session(options.global).report(written.error());
      return kOutput;
    }
  }
  return status_of(result, judgement);
}

}  // namespace

int torture(const Invocation& call) {
  TortureOptions options{.global = call.global};
  options.settings.seed = base::random_u64() >> 32U;
  for (const auto& [kind, name] : torture::kFaultNames) {
    options.settings.faults.push_back(kind);
  }
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
  const Signals signals;
  if (const int status = check_store(options); status != kSuccess) {
    return status;
  }
  Session session(options.global);
  const auto location = locate_store(options.global.store);
  if (!location) {
    return session.report(location.error());
  }
  options.settings.url = location->url;
  Folder folder;
  if (const auto made = folder.make(); !made) {
    return session.report(made.error());
  }
  options.settings.folder = folder.path();
  return run_and_judge(options, signals);
}

}  // namespace holdfast::cli::commands
