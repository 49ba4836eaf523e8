#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <tests/simulation/history.h>
#include <tests/simulation/report.h>
#include <tests/simulation/shrink.h>

namespace holdfast::simulation {
namespace {

constexpr std::string_view kHelp =
    R"(holdfast_simulation: plays histories of processes, callers, a store and faults in virtual time

  --histories N      plays N histories; 10,000 if nothing is said
  --hours H          plays for H hours of this core instead
  --first N          the seed of the first; the others follow. 1 if nothing is said
  --seed N           plays this history alone, and shrinks its faults if it breaks a promise
  --only A,B,…       these faults of it, and no others; an empty list: none
  --trace            with --seed: prints everything that happens
  --planted NAME     plants a bug, and plays until it is found; `all`: one after the other
  --complete         fails, too, if a fault never met anything or a row of the table was never taken
  --table FILE       writes the tables of docs/evidence.md there

Exit status: 0, 1 if a promise was broken or a planted bug was not found, 2 for wrong arguments.
)";

struct Arguments {
  std::uint64_t histories = 10'000;
  double hours = 0;
  std::uint64_t first = 1;
  std::optional<std::uint64_t> seed;
  std::optional<std::set<FaultId>> only;
  bool is_traced = false;
  bool is_complete = false;
  std::string planted;
  std::string table;
};

double cpu_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

[[noreturn]] void refuse(const std::string& why) {
  std::cerr << "holdfast_simulation: " << why << ": see --help\n";
  std::exit(2);
}

std::uint64_t number(const std::string& text) {
  std::size_t read = 0;
  try {
    const std::uint64_t value = std::stoull(text, &read);
    if (read == text.size()) {
      return value;
    }
  } catch (const std::exception&) {
    refuse("`" + text + "` is no number");
  }
  refuse("`" + text + "` is no number");
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) {
        refuse(std::string(name) + " needs a value");
      }
      return argv[i];
    };
    if (name == "--histories") {
      arguments.histories = number(value());
    } else if (name == "--hours") {
      arguments.hours = std::strtod(value().c_str(), nullptr);
    } else if (name == "--first") {
      arguments.first = number(value());
    } else if (name == "--seed") {
      arguments.seed = number(value());
    } else if (name == "--only") {
      arguments.only.emplace();
      std::istringstream list(value());
      for (std::string each; std::getline(list, each, ',');) {
        arguments.only->insert(number(each));
      }
    } else if (name == "--trace") {
      arguments.is_traced = true;
    } else if (name == "--complete") {
      arguments.is_complete = true;
    } else if (name == "--planted") {
      arguments.planted = value();
    } else if (name == "--table") {
      arguments.table = value();
    } else if (name == "--help" || name == "-h") {
      std::cout << kHelp;
      std::exit(0);
    } else {
      refuse("unknown argument " + std::string(name));
    }
  }
  return arguments;
}

std::string list(const std::set<FaultId>& faults) {
  std::string text;
  for (const FaultId id : faults) {
    text += (text.empty() ? "" : ",") + std::to_string(id);
  }
  return text;
}

// Says how a history breaks its promise, with few faults, and how to see that again.
void explain(const HistoryOptions& options, const Outcome& broken, const std::string& planted) {
  std::cerr << "seed " << options.seed << ": " << to_string(broken.violation->promise) << ": "
            << broken.violation->what << '\n';
  HistoryOptions fewest = options;
  fewest.only = fewest_faults(options, broken);
  std::ostringstream trace;
  fewest.trace = &trace;
  const Outcome again = play(fewest);
  std::cerr << "with " << fewest.only->size() << " of " << broken.injected.size() << " faults:";
  for (const FaultId id : *fewest.only) {
    std::cerr << " " << to_string(kind_of(id)) << " (" << id << ")";
  }
  std::cerr << "\n\n"
            << trace.str() << "\nTo see it again:\n  holdfast_simulation --seed " << options.seed
            << " --only '" << list(*fewest.only) << "' --trace"
            << (planted.empty() ? "" : " --planted " + planted) << '\n';
}

int play_one(const Arguments& arguments) {
  HistoryOptions options{.seed = *arguments.seed, .only = arguments.only};
  if (!arguments.planted.empty()) {
    const PlantedBug* const planted = find_bug(arguments.planted);
    if (planted == nullptr) {
      refuse("unknown bug " + arguments.planted);
    }
    options.bug = planted->bug;
  }
  options.trace = arguments.is_traced ? &std::cout : nullptr;
  const Outcome outcome = play(options);
  if (!outcome.violation) {
    std::cout << "seed " << options.seed << " keeps every promise\n";
    return 0;
  }
  if (arguments.is_traced) {
    std::cout << to_string(outcome.violation->promise) << ": " << outcome.violation->what << '\n';
  } else {
    explain(options, outcome, arguments.planted);
  }
  return 1;
}

// Returns whether every fault has met something and every row was taken; says which did not.
bool says_all_happened(const Tally& tally) {
  bool did_all = true;
  for (std::size_t i = 0; i < kFaults; ++i) {
    if (tally.faults.hit[i] == 0) {
      std::cerr << "never hit: " << to_string(static_cast<Fault>(i)) << '\n';
      did_all = false;
    }
  }
  for (std::size_t row = 0; row < AcquireRows::kRows; ++row) {
    if (tally.rows.counts()[row] == 0) {
      std::cerr << "never taken: " << AcquireRows::text(row) << '\n';
      did_all = false;
    }
  }
  return did_all;
}

int play_many(const Arguments& arguments) {
  Tally tally{.first_seed = arguments.first};
  const double until = arguments.hours * 3600;
  const std::uint64_t count =
      arguments.hours > 0 ? std::numeric_limits<std::uint64_t>::max() : arguments.histories;
  for (std::uint64_t i = 0; i < count && (until == 0 || cpu_seconds() < until); ++i) {
    const HistoryOptions options{.seed = arguments.first + i};
    const Outcome outcome = play(options);
    tally.add(options.seed, outcome);
    if (outcome.violation && tally.broken_seeds.size() == 1) {
      explain(options, outcome, {});
    }
  }
  tally.cpu_seconds = cpu_seconds();
  print(std::cout, tally);
  if (!arguments.table.empty()) {
    std::ofstream file(arguments.table);
    write_markdown(file, tally);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(tally.broken_seeds.size(), 20); ++i) {
    std::cerr << "broken: seed " << tally.broken_seeds[i] << '\n';
  }
  const bool is_complete = !arguments.is_complete || says_all_happened(tally);
  return tally.broken_seeds.empty() && is_complete ? 0 : 1;
}

Found find(const PlantedBug& planted, const Arguments& arguments) {
  const double begin = cpu_seconds();
  Found found{.bug = planted.name, .what = planted.what};
  while (!found.is_found && found.histories < arguments.histories) {
    found.seed = arguments.first + found.histories++;
    const Outcome outcome = play({.seed = found.seed, .bug = planted.bug});
    if (outcome.violation) {
      found.is_found = true;
      found.promise = to_string(outcome.violation->promise);
    }
  }
  found.cpu_seconds = cpu_seconds() - begin;
  return found;
}

int find_planted(const Arguments& arguments) {
  std::vector<Found> all;
  bool are_found = true;
  for (const PlantedBug& planted : kPlantedBugs) {
    if (arguments.planted != "all" && arguments.planted != planted.name) {
      continue;
    }
    all.push_back(find(planted, arguments));
    const Found& found = all.back();
    are_found &= found.is_found;
    std::cout << found.bug << ": "
              << (found.is_found ? "found by seed " + std::to_string(found.seed) + " after "
                                 : "NOT FOUND in ")
              << found.histories << " histories, " << found.cpu_seconds << " s: " << found.promise
              << '\n';
  }
  if (all.empty()) {
    refuse("unknown bug " + arguments.planted);
  }
  if (!arguments.table.empty()) {
    std::ofstream file(arguments.table);
    write_markdown(file, all);
  }
  return are_found ? 0 : 1;
}

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (arguments.seed) {
    return play_one(arguments);
  }
  return arguments.planted.empty() ? play_many(arguments) : find_planted(arguments);
}

}  // namespace
}  // namespace holdfast::simulation

int main(int argc, char** argv) { return holdfast::simulation::run(argc, argv); }
